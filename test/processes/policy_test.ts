import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { followGovernanceFile } from "../../processes/_policy.ts";
import { currentPolicy } from "../../store/mod.ts";
import { createLog } from "../../web/mod.ts";
import { testFolder, testStore } from "../_servers.ts";

describe("the file of the governance policy", () => {
  let opened: Awaited<ReturnType<typeof testStore>>;
  before(async () => {
    opened = await testStore();
  });
  after(() => opened.close());

  /** What the log says of a file, up to the line that says what became of it. */
  async function followed(text: string): Promise<{ msg: string; reason?: string }[]> {
    const path = join(await testFolder(), "policy.yaml");
    writeFileSync(path, text);
    const lines: { msg: string; reason?: string }[] = [];
    let end = () => {};
    await new Promise<void>((resolve) => {
      const write = (line: string) => {
        lines.push(JSON.parse(line));
        if (/in force|not followed/.test(lines.at(-1)!.msg)) resolve();
      };
      end = followGovernanceFile(path, opened.store, createLog("test", "info", { write }));
    });
    end();
    return lines;
  }

  it("is put in force, and the log warns of a name that nothing has", async () => {
    const [warning, done] = await followed(
      "rules:\n  - name: own\n    when: { tools: [itsm_run_tset] }\n    then: deny\n",
    );
    assert.match(warning!.reason!, /^line 3: rule own: when\.tools: .*did you mean itsm_run_test/);
    assert.match(done!.msg, /is in force/);
    assert.ok(await currentPolicy(opened.store.knex, "governance_policies"));
  });

  it("changes nothing where it is wrong, and the log has the line", async () => {
    const before = await currentPolicy(opened.store.knex, "governance_policies");
    const [line] = await followed("rules:\n  - name: own\n    than: deny\n");
    assert.match(line!.msg, /is not followed/);
    assert.match(line!.reason!, /line 3: rule own: than: There is no such field/);
    const now = await currentPolicy(opened.store.knex, "governance_policies");
    assert.equal(now?.version, before?.version);
  });
});

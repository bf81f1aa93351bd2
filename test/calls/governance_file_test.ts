import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { loadConfig } from "../../config.ts";
import { followGovernanceFile } from "../../calls/governance/mod.ts";
import { registry } from "../../operations/mod.ts";
import { addStop, currentPolicy, listStops, removeStop } from "../../store/calls/mod.ts";
import { findSettingsFile } from "../../store/platform/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import { testFolder } from "../_run.ts";
import { testStore } from "../_servers.ts";

interface LogLine {
  readonly msg: string;
  readonly reason?: string;
}

/** Name of the file that no setting names. */
const IN_DATA_FOLDER = "sealoop.governance.yaml";

describe("the file of the governance policy", () => {
  let opened: Awaited<ReturnType<typeof testStore>>;
  before(async () => {
    opened = await testStore();
  });
  after(() => opened.close());

  const status = () => findSettingsFile(opened.store.asPlatform(), "governance");

  /** Lines of the log about a file that was there at the start. */
  async function followed(text: string): Promise<LogLine[]> {
    const path = join(await testFolder(), "policy.yaml");
    writeFileSync(path, text);
    const { lines, end } = await following(path);
    end();
    return lines;
  }

  /** Follows a file, as the place does whose files count. @param on told of each line of the log */
  async function following(path: string, on: (line: LogLine) => void = () => {}) {
    const lines: LogLine[] = [];
    const write = (line: string) => on(lines[lines.push(JSON.parse(line)) - 1]!);
    const followed = await followGovernanceFile({
      config: loadConfig({
        SEALOOP_DATA: dirname(path),
        ...(basename(path) !== IN_DATA_FOLDER && { SEALOOP_GOVERNANCE: path }),
        SEALOOP_PLACE: "n1",
        SEALOOP_CONFIG_PLACE: "n1",
      }),
      store: opened.store,
      log: createLog("test", "info", { write }),
      operations: registry.values(),
    });
    return { lines, end: followed.stop };
  }

  it("stops everything where it is wrong and nothing was ever in force, until it can be followed", async () => {
    const path = join(await testFolder(), "policy.yaml");
    const db = opened.store.asPlatform();
    writeFileSync(path, 'rules:\n  - name: own\n    when: { tool: ["*"] }\n    then: deny\n');
    const wrong = await following(path);
    wrong.end();
    assert.match(
      wrong.lines.at(-1)!.reason!,
      /^line 3: rule own: when\.tool: There is no such field; did you mean tools\?/,
    );
    const [stop] = await listStops(db);
    assert.deepEqual([stop?.kind, stop?.name], ["all", "governance-file"]);
    assert.match(stop!.reason, /line 3: rule own/);
    assert.equal((await status())?.mistakes[0]?.line, 3);
    const none = await following(`${path}.none`);
    none.end();
    assert.match(none.lines.at(-1)!.reason!, /it does not exist/);

    const operators = { kind: "all", name: "", reason: "An audit" } as const;
    assert.ok(await addStop(db, operators), "an operator's own stop stands beside it");

    writeFileSync(path, "rules: []\n");
    (await following(path)).end();
    assert.deepEqual((await listStops(db)).map(({ reason }) => reason), ["An audit"]);
    await removeStop(db, operators);
    const { state, path: taken } = (await status())!;
    assert.deepEqual([state, taken], ["taken", path]);
  });

  it("leaves alone what an operator has stopped", async () => {
    const db = opened.store.asPlatform();
    const stop = { kind: "all", name: "", reason: "An audit" } as const;
    await addStop(db, stop);
    await followed("rules: []\n");
    assert.equal((await listStops(db))[0]?.reason, "An audit");
    await removeStop(db, stop);
  });

  it("keeps what it said in force where it is taken away, and says so", async () => {
    const path = join(await testFolder(), IN_DATA_FOLDER);
    writeFileSync(path, "rules:\n  - { name: own, then: deny }\n");
    let tell = (_: LogLine) => {};
    const told = new Promise<LogLine>((resolve) => tell = resolve);
    const { end } = await following(path, (line) => {
      if (/not followed/.test(line.msg)) tell(line);
    });
    rmSync(path);
    assert.match((await told).reason!, /does not exist any more/);
    end();
    const { policy } = (await currentPolicy(opened.store.asPlatform(), "governance_policies"))!;
    assert.equal((policy as { rules: { name: string }[] }).rules[0]!.name, "own");
    assert.match((await status())!.mistakes[0]!.text, /does not exist any more/);
  });

  it("is put in force, and the log warns of a name that nothing has", async () => {
    const [done, warning] = await followed(
      "rules:\n  - name: own\n    when: { tools: [itsm_run_tset] }\n    then: deny\n",
    );
    assert.match(warning!.reason!, /^line 3: rule own: when\.tools: .*did you mean itsm_run_test/);
    assert.match(done!.msg, /is in force/);
    assert.ok(await currentPolicy(opened.store.asPlatform(), "governance_policies"));
  });

  it("is put in force, and the log warns of people who would be asked about what they decide by", async () => {
    const [done, first, second] = await followed(
      "rules:\n  - name: own\n    when: { tools: [approvals_*, keys.revoke, approvals_info] }\n" +
        "    then: needs_approval\n",
    );
    assert.match(
      first!.reason!,
      /^line 3: rule own: when\.tools: keys\.revoke is how people decide/,
    );
    assert.match(second!.reason!, /approvals_info only reads/);
    assert.match(done!.msg, /is in force/);
    const [denied] = await followed(
      "rules:\n  - name: own\n    when: { tools: [keys.revoke] }\n    then: deny\n",
    );
    assert.match(denied!.msg, /is in force/);
  });

  it("changes nothing where it is wrong, and the log has the line", async () => {
    const before = await currentPolicy(opened.store.asPlatform(), "governance_policies");
    const [line] = await followed("rules:\n  - name: own\n    than: deny\n");
    assert.match(line!.msg, /is not followed/);
    assert.match(line!.reason!, /line 3: rule own: than: There is no such field/);
    const now = await currentPolicy(opened.store.asPlatform(), "governance_policies");
    assert.equal(now?.version, before?.version);
  });
});

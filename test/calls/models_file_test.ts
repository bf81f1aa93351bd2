import assert from "node:assert/strict";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { currentModelPolicy, followModelFile } from "../../calls/models/mod.ts";
import type { FollowedFile } from "../../integrations/files/mod.ts";
import { createLog } from "../../web/mod.ts";
import { testFolder } from "../_run.ts";
import { testStore } from "../_servers.ts";

describe("the file of budgets for models, followed", () => {
  let opened: Awaited<ReturnType<typeof testStore>>;
  let followed: FollowedFile;
  let path: string;
  const reasons: string[] = [];

  before(async () => {
    opened = await testStore();
    path = join(await testFolder(), "sealoop.models.yaml");
    const write = (line: string) => {
      const { reason } = JSON.parse(line);
      if (reason) reasons.push(reason);
    };
    followed = await followModelFile(path, opened.store, createLog("test", "info", { write }));
  });
  after(async () => {
    followed.stop();
    await opened.close();
  });

  let writes = 0;
  async function apply(text: string): Promise<number> {
    writeFileSync(path, text);
    utimesSync(path, 0, ++writes); // two writes may have one time
    await followed.refresh();
    return (await currentModelPolicy(opened.store.asPlatform())).version;
  }

  it("is put in force as a new version, and sealed without what it says", async () => {
    assert.equal((await currentModelPolicy(opened.store.asPlatform())).version, 0);
    const text = "budgets: { tenants: { acme: { usd: 7 } } }\n";
    assert.equal(await apply(text), 1);
    assert.equal(await apply(`${text}# the same\n`), 1);
    const rows = await opened.store.asPlatform().query<{ payload: string }>(
      "SELECT payload FROM seal_outbox WHERE payload::json ->> 'subject' = 'model-policy'",
    );
    assert.equal(rows.length, 1);
    assert.match(rows[0]!.payload, /"category":"config_change"/);
    assert.doesNotMatch(rows[0]!.payload, /acme|usd/);
  });

  it("changes nothing while it is wrong, and the log names the line", async () => {
    assert.equal(await apply("budgets:\n  tiers: { partner: { usd: much } }\n"), 1);
    assert.match(reasons.at(-1)!, /line 2/);
  });
});

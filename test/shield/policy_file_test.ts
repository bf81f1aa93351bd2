import assert from "node:assert/strict";
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FollowedFile } from "../../integrations/files/mod.ts";
import { currentShieldPolicy, followShieldFile } from "../../shield/mod.ts";
import { createLog } from "../../web/mod.ts";
import { testFolder } from "../_run.ts";
import { testStore } from "../_servers.ts";

describe("the shield's file", () => {
  let opened: Awaited<ReturnType<typeof testStore>>;
  let followed: FollowedFile;
  let path: string;
  const reasons: string[] = [];

  before(async () => {
    opened = await testStore();
    path = join(await testFolder(), "sealoop.shield.yaml");
    const write = (line: string) => {
      const { reason } = JSON.parse(line);
      if (reason) reasons.push(reason);
    };
    const log = createLog("test", "info", { write });
    followed = await followShieldFile(path, opened.store, log);
  });
  after(async () => {
    followed.stop();
    await opened.close();
  });

  let writes = 0;
  async function apply(text: string): Promise<void> {
    writeFileSync(path, text);
    utimesSync(path, 0, ++writes); // two writes may have one time
    await followed.refresh();
  }

  async function sealed(): Promise<string[]> {
    const rows = await opened.store.asPlatform().query<{ payload: string }>(
      "SELECT payload FROM seal_outbox WHERE payload::json ->> 'subject' = 'shield-policy'",
    );
    return rows.map(({ payload }) => payload);
  }

  it("is not needed: what ships is version 0", async () => {
    const { version, policy } = await currentShieldPolicy(opened.store.asPlatform());
    assert.equal(version, 0);
    assert.ok(policy.policies.length > 8);
  });

  it("is put in force as a new version, sealed once, and without what it says", async () => {
    await apply('without: [disk-encryption]\nfirewall: { acme: "chain secret { }" }\n');
    await apply('without: [disk-encryption]\nfirewall: { acme: "chain secret { }" }\n# same\n');
    const { version, policy } = await currentShieldPolicy(opened.store.asPlatform());
    assert.equal(version, 1);
    assert.ok(!policy.policies.some(({ id }) => id === "disk-encryption"));
    const [payload, ...others] = await sealed();
    assert.equal(others.length, 0);
    assert.match(payload!, /"category":"config_change"/);
    assert.doesNotMatch(payload!, /secret|acme|disk-encryption/);
  });

  it("changes nothing while it is wrong, and the log names the line", async () => {
    await apply("policies: []\nwithout: [nothing]\n");
    assert.match(reasons.at(-1)!, /line 2: there is no shipped policy nothing/);
    assert.equal((await currentShieldPolicy(opened.store.asPlatform())).version, 1);
  });

  it("stays in force where it is removed", async () => {
    rmSync(path);
    await followed.refresh();
    assert.equal((await currentShieldPolicy(opened.store.asPlatform())).version, 1);
  });
});

import assert from "node:assert/strict";
import { currentShieldPolicy, followShieldFile } from "../../../judgement/shield/mod.ts";
import { followTestFile, type TestPolicyFile } from "../../_policy_file.ts";

describe("the shield's file", () => {
  let file: TestPolicyFile;
  before(async () => {
    file = await followTestFile("sealoop.shield.yaml", followShieldFile);
  });
  after(() => file.stop());

  it("is not needed: what ships is version 0", async () => {
    const { version, policy } = await currentShieldPolicy(file.db);
    assert.equal(version, 0);
    assert.ok(policy.policies.length > 8);
  });

  it("is put in force as a new version, sealed once, and without what it says", async () => {
    const text = 'without: [disk-encryption]\nfirewall: { acme: "chain secret { }" }\n';
    await file.apply(text);
    await file.apply(`${text}# same\n`);
    const { version, policy } = await currentShieldPolicy(file.db);
    assert.equal(version, 1);
    assert.ok(!policy.policies.some(({ id }) => id === "disk-encryption"));
    const [payload, ...others] = await file.sealed("shield-policy");
    assert.equal(others.length, 0);
    assert.match(payload!, /"category":"config_change"/);
    assert.doesNotMatch(payload!, /secret|acme|disk-encryption/);
  });

  it("changes nothing while it is wrong, and the log names the line", async () => {
    await file.apply("policies: []\nwithout: [nothing]\n");
    assert.match(file.reasons.at(-1)!, /line 2: there is no shipped policy nothing/);
    assert.equal((await currentShieldPolicy(file.db)).version, 1);
  });

  it("stays in force where it is removed", async () => {
    await file.remove();
    assert.equal((await currentShieldPolicy(file.db)).version, 1);
  });
});

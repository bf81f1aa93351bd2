import assert from "node:assert/strict";
import { currentModelPolicy, followModelFile } from "../../../operations/models/use/mod.ts";
import { followTestFile, type TestPolicyFile } from "../../_policy_file.ts";

describe("the file of budgets for models, followed", () => {
  let file: TestPolicyFile;
  before(async () => {
    file = await followTestFile("sealoop.models.yaml", followModelFile);
  });
  after(() => file.stop());

  const version = async () => (await currentModelPolicy(file.db)).version;

  it("is put in force as a new version, and sealed without what it says", async () => {
    assert.equal(await version(), 0);
    const text = "budgets: { tenants: { acme: { usd: 7 } } }\n";
    await file.apply(text);
    await file.apply(`${text}# the same\n`);
    assert.equal(await version(), 1);
    const [payload, ...others] = await file.sealed("model-policy");
    assert.equal(others.length, 0);
    assert.match(payload!, /"category":"config_change"/);
    assert.doesNotMatch(payload!, /acme|usd/);
  });

  it("changes nothing while it is wrong, and the log names the line", async () => {
    await file.apply("budgets:\n  tiers: { partner: { usd: much } }\n");
    assert.equal(await version(), 1);
    assert.match(file.reasons.at(-1)!, /line 2/);
  });
});

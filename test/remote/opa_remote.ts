import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../config.ts";
import {
  openPolicyAdviser,
  type PolicyAdviser,
  type PolicyQuestion,
} from "../../integrations/policy/mod.ts";
import { buildGo } from "../_download.ts";
import { testFolder } from "../_run.ts";
import { startOpa } from "./_opa.ts";
import { skipSuite } from "./_skip.ts";

const AUTHZ = `package system.authz
default allow := false
allow if input.path == ["health"]
allow if input.identity == "token-of-the-test"
`;
const POLICY = `package sealoop
default decision := {"decision": "deny", "reasons": ["No rule of ours allows it"]}
decision := true if input.effect == "write"
decision := {"decision": "needs_approval"} if input.operation == "itsm.loop"
`;
const QUESTION: PolicyQuestion = {
  operation: "tasks.create",
  names: ["tasks.create"],
  effect: "write",
  door: "rest",
  environment: "test",
  key: { id: "1f0c7b5a9d3e4820", tier: "partner", tenant: "platform" },
  arguments: { title: "Printer jams" },
  decision: "allow",
  rule: "key-decides",
};

describe("Open Policy Agent", function () {
  this.timeout(900_000);
  let opa: Awaited<ReturnType<typeof startOpa>> | undefined;
  let adviser: PolicyAdviser;

  const open = (token: string, path = "sealoop/decision") =>
    openPolicyAdviser(loadConfig({
      SEALOOP_OPA_URL: opa!.url,
      SEALOOP_OPA_PATH: path,
      SEALOOP_CREDENTIALS: JSON.stringify({ opa: token }),
    }))!;

  before(async function () {
    const built = await buildGo("opa", "github.com/open-policy-agent/opa");
    if ("missing" in built) return skipSuite(this, built.missing);
    const folder = await testFolder();
    const files = [join(folder, "authz.rego"), join(folder, "policy.rego")];
    await writeFile(files[0]!, AUTHZ);
    await writeFile(files[1]!, POLICY);
    opa = await startOpa(built.folder, files);
    adviser = open("token-of-the-test");
  });
  after(() => opa?.close());

  it("allows, asks and denies, with a decision's id each", async () => {
    await adviser.check();
    const allowed = await adviser.ask(QUESTION);
    assert.equal(allowed.decision, "allow");
    assert.match(allowed.decisionId!, /^[0-9a-f-]{36}$/);
    const run = { ...QUESTION, effect: "run" };
    assert.equal(
      (await adviser.ask({ ...run, operation: "itsm.loop" })).decision,
      "needs_approval",
    );
    const denied = await adviser.ask(run);
    assert.deepEqual(denied.reasons, ["No rule of ours allows it"]);
  });

  it("denies where the policy says nothing", async () => {
    assert.equal((await open("token-of-the-test", "other/path").ask(QUESTION)).decision, "deny");
  });

  it("refuses another token", async () => {
    await assert.rejects(open("wrong").ask(QUESTION), /does not accept our credential/);
  });
});

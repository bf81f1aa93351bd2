/** Acts in n8n and Fleet: each once, with an intent and an end that are sealed. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { TASK_QUEUE, tenantAttribute, WORKFLOW } from "../../../contract/domain/mod.ts";
import { exportReceipts } from "../../../ledger/mod.ts";
import { getHeldCall } from "../../../store/approvals/mod.ts";
import { allowTools, setGovernance } from "../../_governance.ts";
import { openPeople, type People } from "../../api/_people.ts";
import { SECRET } from "../../integrations/remote/_hostile.ts";
import { type OutsideTestSystems, startOutsideSystems } from "./_outside_systems.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

const PRIVATE = "quayside-crane";

describe("acts in systems of the operator's", () => {
  let systems: OutsideTestSystems;
  let people: People;
  let client: Client;
  before(async () => {
    systems = await startOutsideSystems();
    people = await openPeople({
      SEALOOP_N8N_URL: systems.url,
      SEALOOP_FLEET_URL: systems.url,
      SEALOOP_ACT_WAIT_SECONDS: "2",
      SEALOOP_CREDENTIALS: JSON.stringify({ n8n: SECRET, fleet: SECRET, "n8n-webhook": "for-n8n" }),
    });
    client = await people.agent();
  });
  beforeEach(() => {
    systems.acts.length = 0;
    systems.taking = "done";
    systems.exitCode = 0;
  });
  after(async () => {
    await people?.stop();
    systems.close();
  });

  const call = async (name: string, input: object): Promise<Json> => {
    const result: Json = await client.callTool({ name, arguments: { ...input } });
    return result.isError ? { error: result.content[0].text } : result.structuredContent;
  };
  const trigger = (id = "tqX81") =>
    call("soar_trigger", { workflow_id: `n8n:${id}`, body: { crane: PRIVATE } });
  const script = (fields = {}) =>
    call("rmm_run_script", { agent_id: "fleet:1", script_id: "2", ...fields });
  const allow = () => allowTools(people.store, ["soar_trigger", "rmm_run_script"]);
  /** Returns the outcomes of an act's receipts, with their details. */
  const receiptsOf = async (actId: string): Promise<Json[]> => {
    const stored = await exportReceipts(people.store, { from: 0, to: 10_000 });
    const receipts = stored.map(({ text }) => JSON.parse(text));
    return receipts.filter((one) => one.category === "outside_act" && one.details.act_id === actId);
  };
  /** Waits for the end of an act, as on a busy machine its call may answer before. */
  const endOf = async (answer: Json): Promise<Json> => {
    assert.ok(
      ["begun", "done", "not_done", "unknown"].includes(answer.status),
      JSON.stringify(answer),
    );
    const id = answer.act_id ?? answer.command_id;
    return await people.loop.client.workflow.getHandle(`act-${id}`).result();
  };

  it("wait for people, who are told the names, and are then done once", async () => {
    const held = await trigger();
    const { approval_id } = held.governance;
    const { body: approval } = await people.call("GET", `/v1/approvals/${approval_id}/info`, "ann");
    assert.match(JSON.stringify(approval), /n8n's workflow tqX81 \(Restart the printer\)/);
    assert.equal(systems.acts.length, 0);
    assert.equal((await people.vote(approval_id, "approve", "ann")).status, 200);
    await people.eventually(async () => {
      const held = await getHeldCall(people.store.asPlatform(), approval_id);
      return held?.endedAt ?? undefined;
    });
    const allowed = await trigger();
    assert.equal(allowed.workflow_id, "n8n:tqX81");
    const done = await endOf(allowed);
    assert.deepEqual([done.state, done.code], ["done", "execution_success"]);
    assert.match(done.execution_id, /^\d+$/);
    assert.equal(systems.acts.length, 1);
    const [{ headers, body }] = systems.acts as [OutsideTestSystems["acts"][0]];
    assert.deepEqual(
      [headers["x-sealoop-act"], headers["x-n8n-api-key"], headers.authorization, body],
      [done.act_id, undefined, "Bearer for-n8n", `{"crane":"${PRIVATE}"}`],
    );
    await people.sealed(done.receipt_id);
    const receipts = await receiptsOf(done.act_id);
    assert.deepEqual(receipts.map(({ subject, outcome }) => [subject, outcome]), [
      ["n8n:tqX81", "intended"],
      ["n8n:tqX81", "done"],
    ]);
    assert.equal(receipts[1].details.execution_id, done.execution_id);
  });

  it("are done where n8n shows it, although its answer was lost", async () => {
    await allow();
    systems.taking = "lost";
    const end = await endOf(await trigger());
    assert.deepEqual([end.state, end.code], ["done", "execution_success"]);
    assert.equal(systems.acts.length, 1);
  });

  it("are unknown where nothing shows them: people are told how to find out, and nothing is repeated", async () => {
    await allow();
    systems.taking = "swallowed";
    const end = await endOf(await trigger());
    assert.deepEqual([end.state, end.code, end.execution_id], ["unknown", "timeout", null]);
    assert.equal(systems.acts.length, 1);
    const { body } = await people.call("GET", "/v1/comms?kind=act.unknown", "ann");
    const [message] = body.messages;
    assert.deepEqual(message.refs, { act_id: end.act_id, receipt_id: end.receipt_id });
    assert.match(
      message.text,
      new RegExp(`Look in n8n, .* the workflow tqX81, .* x-sealoop-act: ${end.act_id}`),
    );
    await people.sealed(end.receipt_id);
    const [, ended] = await receiptsOf(end.act_id);
    assert.equal(ended.outcome, "unknown");
  });

  it("are looked for where the webhook answers an error, as a workflow may do after its work", async () => {
    await allow();
    systems.taking = "complaining";
    assert.equal((await endOf(await trigger())).state, "done");
    systems.taking = "refused";
    const { state, code } = await endOf(await trigger());
    assert.deepEqual([state, code], ["unknown", "refused"]);
    systems.taking = "done";
    assert.equal((await endOf(await trigger())).state, "done");
  });

  it("are never done again by another run, which reads what became of the first", async () => {
    await allow();
    const { act_id, receipt_id } = await endOf(await trigger());
    await people.sealed(receipt_id);
    const [{ details: { decision_id } }] = await receiptsOf(act_id);
    const again = await people.loop.client.workflow.execute(WORKFLOW.outsideAct, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `act-${act_id}-again`,
      args: [{ act_id, decision_id }],
      typedSearchAttributes: [tenantAttribute("platform")],
    }) as Json;
    assert.equal(again.state, "done");
    assert.equal(systems.acts.length, 1);
  });

  it("have a host of Fleet run a script, whose result proves it", async () => {
    await allow();
    const started = await script();
    assert.match(started.command_id, /^ACT-/);
    const done = await endOf(started);
    assert.deepEqual([done.state, done.code], ["done", "exit_0"]);
    assert.equal(systems.acts[0]!.body, '{"host_id":1,"script_id":2}');
    systems.exitCode = 3;
    assert.equal((await endOf(await script())).code, "exit_3");
    systems.exitCode = -2;
    const disabled = await endOf(await script());
    assert.deepEqual([disabled.state, disabled.code], ["not_done", "scripts_disabled"]);
    assert.doesNotMatch(JSON.stringify(await receiptsOf(done.act_id)), /private/);
  });

  it("in Fleet are unknown where the host does not say, or the answer was lost", async () => {
    await allow();
    systems.exitCode = null;
    const waiting = await endOf(await script());
    assert.deepEqual([waiting.state, waiting.code], ["unknown", "not_shown"]);
    assert.match(waiting.execution_id, /^e797d6c6/);
    systems.taking = "lost";
    const lost = await endOf(await script());
    assert.deepEqual([lost.state, lost.code, lost.execution_id], ["unknown", "timeout", null]);
  });

  it("are refused where there is nothing to act on", async () => {
    await setGovernance(people.store, { rules: [] });
    assert.match((await trigger("nothing")).error, /n8n has no workflow nothing/);
    assert.match((await script({ agent_id: "fleet:9" })).error, /Fleet has no host 9/);
    assert.match(
      (await script({ script_id: "disk-usage" })).error,
      /number of a script of Fleet's/,
    );
    assert.match((await script({ parameters: { a: "b" } })).error, /Scripts of Fleet take none/);
    assert.equal(systems.acts.length, 0);
  });

  it("leave neither credentials nor private words in Temporal or the ledger", async () => {
    await allow();
    const { act_id, receipt_id } = await endOf(await trigger());
    await people.sealed(receipt_id);
    const run = people.loop.client.workflow.getHandle(`act-${act_id}`);
    const [history, described] = await Promise.all([run.fetchHistory(), run.describe()]);
    const stored = historyToJSON(history) + JSON.stringify(described.raw);
    const plain = stored.replace(
      /"data":\s*"([^"]+)"/g,
      (_, data) => Buffer.from(data, "base64").toString(),
    );
    assert.match(plain, new RegExp(act_id));
    const receipts = JSON.stringify(await receiptsOf(act_id));
    for (const text of [plain, receipts]) {
      assert.doesNotMatch(text, new RegExp(`${SECRET}|for-n8n|${PRIVATE}|127\\.0\\.0\\.1:\\d+`));
    }
  });
});

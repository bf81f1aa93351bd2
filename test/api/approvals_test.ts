import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { TASK_QUEUE } from "../../contract/domain/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import { setGovernance } from "../_governance.ts";
import { ACTION, approvalCalls } from "./_approvals.ts";
import { openPeople, type People } from "./_people.ts";
import { giveKey } from "../_superuser.ts";

describe("approvals over REST", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());
  const { ask, info, move } = approvalCalls(() => people);

  it("show people what can't be seen in what they decide on", async () => {
    const hidden = { command: "rm \u202e-rf /", "ta\u200bble": ["ses\u0007sions"] };
    const asked = await ask({ description: "Safe \u202egnihton\u202c", action: hidden });
    const { description, action, action_sha256 } = await info(asked.approval_id);
    assert.equal(description, "Safe ⟨U+202E⟩gnihton⟨U+202C⟩");
    assert.deepEqual(action, {
      command: "rm ⟨U+202E⟩-rf /",
      "ta⟨U+200B⟩ble": ["ses⟨U+0007⟩sions"],
    });
    const sha256 = createHash("sha256").update(canonicalize(hidden)).digest("hex");
    assert.equal(action_sha256, sha256, "of the action as it is");
  });

  it("are for the hash of exactly one action, and tell who approved it", async () => {
    const asked = await ask({ description: "Old sessions" });
    const canonical = '{"command":"drop","rows":3,"table":"sessions"}';
    assert.equal(asked.action_sha256, createHash("sha256").update(canonical).digest("hex"));
    assert.deepEqual([asked.status, asked.workflow_id], [
      "pending",
      `approval-${asked.approval_id}`,
    ]);
    const approved = await move(asked.approval_id, "approve", "ann");
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    assert.equal(approved.body.status, "approved");
    const { moves, approvers } = await info(asked.approval_id);
    assert.deepEqual(moves.map((m: { move: string }) => m.move), ["requested", "approved"]);
    assert.deepEqual(approvers, [{ key_id: people.keyId("ann"), principal: "ann" }]);
    const { result } = await people.eventually(async () => {
      const path = `/v1/workflows/${asked.workflow_id}/result`;
      const { body } = await people.call("GET", path, "program");
      return body.status === "RUNNING" ? undefined : body;
    });
    assert.equal(result.status, "approved");
    assert.deepEqual(result.approvers, [`key:${people.keyId("ann")}`]);
    assert.equal(result.action_sha256, asked.action_sha256);
  });

  it("wait for as many different people as are needed", async () => {
    const { approval_id } = await ask({ needed: 2 });
    assert.equal((await move(approval_id, "approve", "ann")).body.status, "pending");
    const again = await move(approval_id, "approve", "ann2");
    assert.equal(again.status, 409);
    assert.match(again.body.detail, /has approved APR-\w+ already/);
    assert.equal((await move(approval_id, "approve", "bob")).body.status, "approved");
    assert.equal((await info(approval_id)).approvers.length, 2);
  });

  it("wait for two people while a flag wants that, whatever was asked for", async () => {
    const set = (value: boolean) =>
      people.call("PATCH", "/v1/admin/flags", "admin", { require_two_approvers: value });
    assert.equal((await set(true)).status, 200);
    const { approval_id } = await ask();
    assert.equal((await info(approval_id)).needed, 2);
    assert.equal((await set(false)).status, 200);
    assert.equal((await move(approval_id, "approve", "ann")).body.status, "pending");
    assert.equal((await move(approval_id, "approve", "bob")).body.status, "approved");
  });

  it("are not decided by who asked, by keys that may not, or by agents", async () => {
    const { approval_id } = await ask();
    const own = await move(approval_id, "approve", "self");
    assert.equal(own.status, 403);
    assert.match(own.body.detail, /asked for by the holder/);
    for (const what of ["approve", "deny", "reopen"] as const) {
      assert.equal((await move(approval_id, what, "program")).status, 403, what);
      assert.equal((await move(approval_id, what, "free")).status, 403, what);
      const anonymous = await move(approval_id, what);
      assert.equal(anonymous.status, 401);
    }
    assert.equal((await info(approval_id)).status, "pending");
    const { moves } = await info(approval_id);
    assert.equal(moves.length, 1);
  });

  it("are decided by people of the tenant that asks and by operators, and told to nobody else", async () => {
    const { approval_id } = await ask({ description: "Very private words" });
    for (const what of ["approve", "deny", "reopen"] as const) {
      const foreign = await move(approval_id, what, "rival");
      assert.equal(foreign.status, 404);
      assert.equal(foreign.body.detail, `There is no approval ${approval_id}`);
    }
    assert.deepEqual((await people.call("GET", "/v1/approvals?limit=200", "rival")).body, {
      approvals: [],
    });
    assert.equal(
      (await people.call("GET", `/v1/approvals/${approval_id}/info`, "rival")).status,
      404,
    );
    const told = await people.call("GET", `/v1/approvals/${approval_id}/info`, "operator");
    assert.deepEqual(told.body.action, ACTION);
    const approved = await move(approval_id, "approve", "operator");
    assert.deepEqual([approved.status, approved.body.status], [200, "approved"]);
  });

  it("that a loop of the operator's asks for are decided by the operator's people", async () => {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    const terms = { expires_in_seconds: 60, escalate_after_seconds: 0, needed: 1 };
    await people.loop.client.workflow.start("approval", {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `approval-${id}`,
      args: [{
        approval_id: id,
        subject: "web",
        requested_by: "sealoop-worker",
        ...terms,
        action: ACTION,
        action_sha256: createHash("sha256").update(canonicalize(ACTION)).digest("hex"),
      }],
    });
    await people.eventually(async () =>
      (await people.call("GET", `/v1/approvals/${id}/info`, "ann")).body.moves?.[0]
    );
    assert.equal((await move(id, "approve", "rival")).status, 404);
    assert.equal((await move(id, "approve", "ann")).status, 200);
  });

  it("are decided once", async () => {
    const { approval_id } = await ask();
    const both = await Promise.all([
      move(approval_id, "approve", "ann"),
      move(approval_id, "deny", "bob"),
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    const late = await move(approval_id, "deny", "bob");
    assert.equal(late.status, 409);
    assert.match(late.body.detail, /only a pending one/);
  });

  it("are listed by how they stand", async () => {
    const { approval_id } = await ask();
    const { body } = await people.call("GET", "/v1/approvals?status=pending&limit=200", "program");
    assert.ok(body.approvals.some((a: { approval_id: string }) => a.approval_id === approval_id));
    assert.ok(body.approvals.every((a: { status: string }) => a.status === "pending"));
    assert.equal((await people.call("GET", "/v1/approvals?status=maybe", "program")).status, 422);
    const none = await people.call("GET", "/v1/approvals/APR-000000000000/info", "program");
    assert.equal(none.status, 404);
    const unknown = await people.call("POST", "/v1/approvals/APR-000000000000/approve", "ann");
    assert.equal(unknown.status, 404);
  });

  it("let a workflow run that was asked for by its type, by the rules of its own operation", async () => {
    const when = { tools: ["invoke_reasoning_pipeline"] };
    const rule = { name: "ask", when, then: "needs_approval", guardrails: false };
    await setGovernance(people.store, { rules: [rule] });
    const body = { type: "reasoning", input: { prompt: "Hello" } };
    const held = await people.call("POST", "/v1/workflows/start", "program", body);
    assert.equal(held.status, 202, JSON.stringify(held.body));
    const { approval_id, arguments: shown } = held.body.governance;
    assert.deepEqual(shown, { prompt: "Hello" });
    const { key } = await giveKey(people.store, {
      tenant: "elsewhere",
      tier: "partner",
      scope: "full",
      principal: "elsewhere",
      mayApprove: false,
      expiresAt: null,
    });
    const seen = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(`${people.url}/v1/approvals${path}`, { headers });
      return JSON.stringify(await response.json());
    };
    for (const path of ["", `/${approval_id}/info`]) {
      const foreign = await seen(path, { "x-api-key": key });
      assert.ok(!foreign.includes("Hello"), foreign);
    }
    assert.deepEqual((await info(approval_id)).action.arguments, { prompt: "Hello" });
    assert.equal((await move(approval_id, "approve", "ann")).status, 200);
    const act = await people.eventually(async () => {
      const { act } = await info(approval_id);
      return act.ended_at ? act : undefined;
    });
    assert.deepEqual([act.state, act.tool, act.output?.outcome], [
      "done",
      "workflow_start",
      "input_required",
    ]);
  });
});

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { bindAction } from "../../calls/approvals/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import { canonicalize, exportReceipts } from "../../ledger/mod.ts";
import {
  type Db,
  getVote,
  listTicketEvents,
  openTicket,
  putApproval,
  putVote,
} from "../../store/mod.ts";
import type { reconcileRuns } from "../../workflows/mod.ts";
import { setGovernance } from "../_governance.ts";
import { openPeople, type People } from "./_people.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser, giveKey } from "../_superuser.ts";

describe("approvals over REST", () => {
  let people: People;
  let gateway: Db;
  before(async () => {
    people = await openPeople();
    gateway = (await storeAs(people.store, "gateway")).asPlatform();
  });
  after(() => people?.stop());

  const action = { command: "drop", table: "sessions", rows: 3 };
  const ask = async (fields: Record<string, unknown> = {}) => {
    const answer = await people.call("POST", "/v1/approvals", "program", { action, ...fields });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const move = (id: string, what: string, by: string) =>
    people.call("POST", `/v1/approvals/${id}/${what}`, by);
  const info = async (id: string) =>
    (await people.call("GET", `/v1/approvals/${id}/info`, "program")).body;
  const becomes = (id: string, status: string) =>
    people.eventually(async () => {
      const now = await info(id);
      return now.status === status ? now : undefined;
    });
  /** The approval that the list of incidents says an open ticket waits for. */
  const waitsFor = async (ticketId: string) => {
    const { body } = await people.call("GET", "/v1/itsm/incidents?status=open", "program");
    return body.tickets.find((one: { ticket_id: string }) => one.ticket_id === ticketId)
      .approval_id;
  };
  const receiptsOf = async (id: string) => {
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text)).filter(({ subject }) => subject === id);
  };

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
    const { result } = (await people.call(
      "GET",
      `/v1/workflows/${asked.workflow_id}/result`,
      "program",
    )).body;
    assert.equal(result.status, "approved");
    assert.deepEqual(result.approvers, [`key:${people.keyId("ann")}`]);
    assert.equal(result.action_sha256, asked.action_sha256);
  });

  it("are sealed move by move: keys and a commitment in public, names, texts and hashes not", async () => {
    const { approval_id, action_sha256, action_salt, action_commitment } = await ask({
      description: "Very private words",
    });
    const denied = await move(approval_id, "deny", "ann");
    await people.sealed(denied.body.receipt_id);
    const receipts = await receiptsOf(approval_id);
    assert.deepEqual(receipts.map((r) => [r.category, r.action, r.actor, r.outcome]), [
      ["approval", "approval.requested", `key:${people.keyId("program")}`, "pending"],
      ["approval", "approval.denied", `key:${people.keyId("ann")}`, "denied"],
    ]);
    const shown = Buffer.concat([
      Buffer.from(action_salt, "hex"),
      Buffer.from(canonicalize(action)),
    ]);
    assert.equal(action_commitment, createHash("sha256").update(shown).digest("hex"));
    for (const { details } of receipts) assert.equal(details.action_commitment, action_commitment);
    const text = JSON.stringify(receipts);
    const words = ["private", "sessions", 'ann"', "Program", action_sha256, action_salt];
    for (const word of words) assert.ok(!text.includes(word), word);
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
    for (const what of ["approve", "deny", "reopen"]) {
      assert.equal((await move(approval_id, what, "program")).status, 403, what);
      assert.equal((await move(approval_id, what, "free")).status, 403, what);
      const anonymous = await people.call("POST", `/v1/approvals/${approval_id}/${what}`);
      assert.equal(anonymous.status, 401);
    }
    assert.equal((await info(approval_id)).status, "pending");
    const { moves } = await info(approval_id);
    assert.equal(moves.length, 1);
  });

  it("are decided by people of the tenant that asks and by operators, and told to nobody else", async () => {
    const { approval_id } = await ask({ description: "Very private words" });
    for (const what of ["approve", "deny", "reopen"]) {
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
    assert.deepEqual(told.body.action, action);
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
        action,
        action_sha256: "0".repeat(64),
      }],
    });
    await people.eventually(async () =>
      (await people.call("GET", `/v1/approvals/${id}/info`, "ann")).body.moves?.[0]
    );
    assert.equal((await move(id, "approve", "rival")).status, 404);
    assert.equal((await move(id, "approve", "ann")).status, 200);
  });

  it("hear what was said to a gateway that died before it could tell of it, once", async () => {
    const { approval_id } = await ask({ needed: 2 });
    const said = { approvalId: approval_id, keyId: people.keyId("ann") };
    const vote = await putVote(gateway, { ...said, move: "approved" });
    await asSuperuser(people.store).execute(
      "UPDATE approval_votes SET voted_at = now() - interval '1 minute' WHERE id = $1",
      [vote],
    );
    const reconcile = () =>
      people.loop.client.workflow.execute<typeof reconcileRuns>(WORKFLOW.reconcileRuns, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: "reconcile",
        args: [],
      });
    await reconcile();
    await reconcile();
    const { status, approvers, moves } = await info(approval_id);
    assert.deepEqual([status, approvers.length, moves.length], ["pending", 1, 2]);
    assert.equal((await move(approval_id, "approve", "bob")).body.status, "approved");
  });

  it("take what was said and not told of, where its holder says it again, as the same", async () => {
    const { approval_id } = await ask({ needed: 2 });
    const said = { approvalId: approval_id, keyId: people.keyId("ann"), move: "approved" } as const;
    const vote = await putVote(gateway, said);
    const { status } = await move(approval_id, "approve", "ann");
    assert.equal(status, 200);
    assert.equal((await getVote(people.store.asPlatform(), vote))!.number, 2);
    assert.equal((await info(approval_id)).moves.length, 2);
  });

  it("take the last word of a key where none was told of, and leave the other", async () => {
    const { approval_id } = await ask();
    const said = { approvalId: approval_id, keyId: people.keyId("ann"), move: "approved" } as const;
    const vote = await putVote(gateway, said);
    assert.equal((await move(approval_id, "deny", "ann")).body.status, "denied");
    assert.match(
      (await getVote(people.store.asPlatform(), vote))!.refused!.message,
      /something else/,
    );
    assert.equal((await info(approval_id)).moves.length, 2);
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

  it("lead from denied and from expired back to pending, and never from approved", async () => {
    const { approval_id } = await ask({ expires_in_seconds: 15 }); // which each move has to be in time for
    await move(approval_id, "deny", "ann");
    assert.equal((await move(approval_id, "approve", "ann")).status, 409);
    const reopened = await move(approval_id, "reopen", "bob");
    assert.equal(reopened.status, 200, JSON.stringify(reopened.body));
    assert.equal(reopened.body.status, "pending");
    assert.equal((await move(approval_id, "reopen", "bob")).status, 409);
    await becomes(approval_id, "expired");
    assert.equal((await move(approval_id, "reopen", "ann")).body.status, "pending");
    assert.equal((await move(approval_id, "approve", "ann")).body.status, "approved");
    assert.equal((await move(approval_id, "reopen", "bob")).status, 409);
    const { moves } = await info(approval_id);
    assert.deepEqual(moves.map((m: { move: string }) => m.move), [
      "requested",
      "denied",
      "reopened",
      "expired",
      "reopened",
      "approved",
    ]);
    await people.sealed(moves.at(-1).receipt_id);
    assert.equal((await receiptsOf(approval_id)).length, 6);
  });

  it("are told to the ticket, and told again when nobody answers", async () => {
    const id = `INC-${randomBytes(6).toString("hex")}`;
    await openTicket(people.store.asPlatform(), {
      id,
      title: "t",
      description: "",
      severity: "low",
      phase: "ticketed",
      service: null,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "key:test",
    });
    const { approval_id } = await ask({ ticket_id: id, escalate_after_seconds: 1 });
    const escalated = await people.eventually(async () => {
      const now = await info(approval_id);
      return now.escalated ? now : undefined;
    });
    assert.equal(escalated.status, "pending");
    assert.equal(await waitsFor(id), approval_id);
    await move(approval_id, "approve", "ann");
    assert.equal(await waitsFor(id), null);
    const kinds = (await listTicketEvents(people.store.asPlatform(), id)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["approval_requested", "approval_escalated", "approval_approved"]);
    const { body } = await people.call("GET", `/v1/itsm/tickets/${id}?postmortem=true`, "program");
    const by = `ann, key ${people.keyId("ann")}`;
    assert.ok(body.postmortem.includes(`- approval approved: \`${approval_id}\` by **${by}**`));
    assert.equal(body.postmortem.match(new RegExp(`by \`${by}\``, "g")).length, 1);
  });

  it("are said to be out of reach while no worker answers, and stay as they are", async () => {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    await putApproval(people.store.asPlatform(), {
      id,
      subject: "x",
      ticketId: null,
      description: "",
      needed: 1,
      ...bindAction({}, "{}"),
      requestedBy: "program",
      requestedByKey: null,
      expiresInSeconds: 60,
      escalateAfterSeconds: 0,
      grounds: { rule: null, reasons: [], reaches: [], evidence: [] },
      askingRun: null,
    });
    const run = await people.loop.client.workflow.start("approval", {
      taskQueue: "nobody-takes-it",
      workflowId: `approval-${id}`,
      args: [{}],
    });
    const { status, headers } = await move(id, "approve", "ann");
    assert.deepEqual([status, headers.get("retry-after")], [503, "5"]);
    assert.equal((await info(id)).status, "pending");
    await run.terminate();
    const early = await move(id, "approve", "ann");
    assert.equal(early.status, 503);
    assert.match(early.body.detail, /has not begun yet; your vote is stored/);
    await asSuperuser(people.store).execute(
      "UPDATE approvals SET asked_at = asked_at - interval '10 minutes' WHERE id = $1",
      [id],
    );
    assert.equal((await move(id, "approve", "ann")).status, 409);
  });

  it("are listed by how they stand", async () => {
    const { approval_id } = await ask();
    const { body } = await people.call("GET", "/v1/approvals?status=pending&limit=200", "program");
    assert.ok(body.approvals.some((a: { approval_id: string }) => a.approval_id === approval_id));
    assert.ok(body.approvals.every((a: { status: string }) => a.status === "pending"));
    assert.equal((await people.call("GET", "/v1/approvals?status=maybe", "program")).status, 422);
    const none = await people.call("GET", "/v1/approvals/APR-000000000000/info", "program");
    assert.equal(none.status, 404);
    const unknown = await move("APR-000000000000", "approve", "ann");
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

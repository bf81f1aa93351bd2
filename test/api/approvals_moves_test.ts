import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { groundsOf } from "../../contract/records/mod.ts";
import { bindAction } from "../../calls/approvals/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { canonicalize, exportReceipts, readEvidence } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getVote, putApproval, putVote } from "../../store/approvals/mod.ts";
import { listTicketEvents, openTicket } from "../../store/incidents/mod.ts";
import type { reconcileRuns } from "../../workflows/mod.ts";
import { ACTION, approvalCalls } from "./_approvals.ts";
import { openPeople, type People } from "./_people.ts";
import { setGovernance } from "../_governance.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";

describe("approvals over REST, move by move,", () => {
  let people: People;
  let gateway: Db;
  before(async () => {
    people = await openPeople();
    gateway = (await storeAs(people.store, "gateway")).asPlatform();
  });
  after(() => people?.stop());
  const { ask, becomes, info, move, receiptsOf } = approvalCalls(() => people);
  /** The approval that the list of incidents says an open ticket waits for. */
  const waitsFor = async (ticketId: string) => {
    const { body } = await people.call("GET", "/v1/itsm/incidents?status=open", "program");
    return body.tickets.find((one: { ticket_id: string }) => one.ticket_id === ticketId)
      .approval_id;
  };

  it("are sealed move by move: a commitment in public, and no voter's key, names, texts and hashes", async () => {
    const { approval_id, action_sha256, action_salt, action_commitment } = await ask({
      description: "Very private words",
    });
    const denied = await move(approval_id, "deny", "ann");
    await people.sealed(denied.body.receipt_id);
    const receipts = await receiptsOf(approval_id);
    const { actor } = receipts[1];
    assert.match(actor, /^voter:[0-9a-f]{16}$/);
    assert.deepEqual(receipts.map((r) => [r.category, r.action, r.actor, r.outcome]), [
      ["approval", "approval.requested", `key:${people.keyId("program")}`, "pending"],
      ["approval", "approval.denied", actor, "denied"],
    ]);
    const shown = Buffer.concat([
      Buffer.from(action_salt, "hex"),
      Buffer.from(canonicalize(ACTION)),
    ]);
    assert.equal(action_commitment, createHash("sha256").update(shown).digest("hex"));
    for (const { details } of receipts) assert.equal(details.action_commitment, action_commitment);
    const text = JSON.stringify(receipts);
    const words = ["private", "sessions", 'ann"', people.keyId("ann"), "Program"];
    words.push(action_sha256, action_salt);
    for (const word of words) assert.ok(!text.includes(word), word);
  });

  it("tell two people of one approval apart, and nothing links what a person decides", async () => {
    const { approval_id: both } = await ask({ needed: 2 });
    const { approval_id: other } = await ask({});
    await move(both, "approve", "ann");
    assert.equal((await move(both, "approve", "ann2")).status, 409);
    await people.sealed((await move(both, "approve", "bob")).body.receipt_id);
    await people.sealed((await move(other, "approve", "ann")).body.receipt_id);
    const [, first, second] = await receiptsOf(both);
    assert.deepEqual(second.details.approvers, [first.actor, second.actor]);
    assert.notEqual(first.actor, second.actor);
    const [, third] = await receiptsOf(other);
    assert.ok(![first.actor, second.actor].includes(third.actor));
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    const about = all.map(({ text }) => text).filter((text) => text.includes(people.keyId("ann")));
    const kinds = new Set(about.map((text) => JSON.parse(text).category));
    assert.deepEqual([...kinds], [], "no receipt names her key");
    const operator = await storeAs(people.store, "operator");
    const { entries } = await readEvidence(operator, third.id);
    const voter = entries.find(({ name }) => name === "voter")!;
    assert.deepEqual([voter.state, JSON.parse(voter.content!)], [
      "proven",
      { key_id: people.keyId("ann"), principal: "ann" },
    ]);
  });

  it("name keys in public where the policy says so", async () => {
    const policy = { publish_approvers: true };
    await setGovernance(people.store, policy);
    const { approval_id } = await ask({});
    await people.sealed((await move(approval_id, "approve", "ann")).body.receipt_id);
    await setGovernance(people.store, {});
    const [, { actor, details }] = await receiptsOf(approval_id);
    const key = `key:${people.keyId("ann")}`;
    assert.deepEqual([actor, details.approvers], [key, [key]]);
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
    const { status, approvers, moves } = await people.eventually(async () => {
      const now = await info(approval_id);
      return now.moves.length > 1 ? now : undefined;
    });
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

  it("lead from denied back to pending, and never from approved", async () => {
    const { approval_id } = await ask();
    await move(approval_id, "deny", "ann");
    assert.equal((await move(approval_id, "approve", "ann")).status, 409);
    const reopened = await move(approval_id, "reopen", "bob");
    assert.equal(reopened.status, 200, JSON.stringify(reopened.body));
    assert.equal(reopened.body.status, "pending");
    assert.equal((await move(approval_id, "reopen", "bob")).status, 409);
    assert.equal((await move(approval_id, "approve", "ann")).body.status, "approved");
    assert.equal((await move(approval_id, "reopen", "bob")).status, 409);
    const { moves } = await info(approval_id);
    assert.deepEqual(moves.map((m: { move: string }) => m.move), [
      "requested",
      "denied",
      "reopened",
      "approved",
    ]);
    await people.sealed(moves.at(-1).receipt_id);
    assert.equal((await receiptsOf(approval_id)).length, 4);
  });

  it("lead from expired back to pending, each time anew", async () => {
    const { approval_id } = await ask({ expires_in_seconds: 2 });
    await becomes(approval_id, "expired");
    const approved = await people.eventually(async () => {
      await move(approval_id, "reopen", "ann");
      const { status, body } = await move(approval_id, "approve", "ann");
      return status === 200 ? body : undefined; // else it has expired again
    });
    assert.equal(approved.status, "approved");
    const { moves } = await info(approval_id);
    const all = moves.map((m: { move: string }) => m.move);
    assert.match(all.join(" "), /^requested( expired reopened)+ approved$/);
    await people.sealed(moves.at(-1).receipt_id);
    assert.equal((await receiptsOf(approval_id)).length, all.length);
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
    assert.ok(body.postmortem.includes(`| Approval \`${approval_id}\` was given by **${by}**. |`));
    assert.equal(
      body.postmortem.split(by).length,
      3,
      "once in the timeline, and once in what was done",
    );
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
      grounds: groundsOf({}),
      askingRun: null,
    });
    const run = await people.loop.client.workflow.start("approval", {
      taskQueue: "nobody-takes-it",
      workflowId: `approval-${id}`,
      args: [{}],
    });
    const approve = () => people.call("POST", `/v1/approvals/${id}/approve`, "ann");
    const { status, headers } = await approve();
    assert.deepEqual([status, headers.get("retry-after")], [503, "5"]);
    assert.equal((await info(id)).status, "pending");
    await run.terminate();
    const early = await approve();
    assert.equal(early.status, 503);
    assert.match(early.body.detail, /has not begun yet; your vote is stored/);
    await asSuperuser(people.store).execute(
      "UPDATE approvals SET asked_at = asked_at - interval '10 minutes' WHERE id = $1",
      [id],
    );
    assert.equal((await approve()).status, 409);
  });
});

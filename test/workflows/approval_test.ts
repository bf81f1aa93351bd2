import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { bindAction, moveApproval, voterOf } from "../../calls/approvals/mod.ts";
import {
  approvalQuery,
  type ApprovalRequest,
  approveUpdate,
  type Finding,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { canonicalize, exportReceipts } from "../../ledger/mod.ts";
import { getApproval, listApprovalMoves } from "../../store/approvals/mod.ts";
import { getTicket, resolveTicket } from "../../store/incidents/mod.ts";
import type { KeyRecord } from "../../store/keys/mod.ts";
import { readEnvelope } from "../../runtime/temporal/mod.ts";
import type { approval, itsmLoop, reconcileRuns } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { createApprover, storeVote, vote } from "./_people.ts";
import { giveKey, takeKey } from "../_superuser.ts";

describe("the approval workflow", () => {
  let loop: TestLoop;
  let ann: KeyRecord;
  const voter = (id: string, name: string) => voterOf(loop.store.asPlatform(), id, name);
  before(async () => {
    loop = await openLoop();
    ann = await createApprover(loop.store, "ann");
  });
  after(() => loop?.stop());

  const ask = async (fields: Partial<ApprovalRequest> = {}) => {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    const { action = { do: "it" } } = fields;
    const request: ApprovalRequest = {
      approval_id: id,
      subject: "test",
      action,
      action_sha256: bindAction(action, canonicalize(action)).actionSha256,
      requested_by: "itsm-loop",
      ...fields,
    };
    const handle = await loop.client.workflow.start<typeof approval>(WORKFLOW.approval, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `approval-${request.approval_id}`,
      args: [request],
    });
    return { id, handle, request };
  };
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.then(() => assert.fail("It was accepted"), (error: Error) => error);
    const { type, message } = error.cause as Error & { type: string };
    return [type, message] as const;
  };
  /** Runs a loop about a report that names no service, so that it escalates at once. */
  const escalated = async () => {
    const finding: Finding = {
      service: null,
      check: "report",
      code: "reported",
      report: "The lift is stuck",
      fingerprint: randomBytes(8).toString("hex"),
      observed_at: new Date().toISOString(),
    };
    const handle = await loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    const { ticket_id, receipt_id } = await handle.result();
    const run = { workflow_id: handle.workflowId, run_id: handle.firstExecutionRunId };
    return { ticket_id: ticket_id!, receipt_id, asking_run: { ...run, finding } };
  };

  it("takes the terms of the settings where a request has none", async () => {
    const { id, handle } = await ask();
    const record = await eventually(() => getApproval(loop.store.asPlatform(), id));
    assert.deepEqual([record.needed, record.expiresInSeconds, record.escalateAfterSeconds], [
      1,
      259_200,
      3_600,
    ]);
    await vote(loop, id, "denied", ann);
    assert.equal((await handle.result()).status, "denied");
  });

  it("refuses the vote of the requester, by whichever of their keys", async () => {
    const { record } = await giveKey(loop.store, {
      tier: "partner",
      scope: "full",
      principal: "Ann",
      mayApprove: false,
      expiresAt: null,
    });
    const { id } = await ask({ requested_by: `key:${record.id}` });
    const [type, message] = await refusal(vote(loop, id, "approved", ann));
    assert.equal(type, "Forbidden");
    assert.match(message, /asked for by the holder/);
    const cy = await createApprover(loop.store, "cy");
    assert.equal((await vote(loop, id, "approved", cy)).status, "approved");
  });

  it("refuses votes without the right, and moves that its status does not allow", async () => {
    const { id, handle } = await ask();
    const mute = await createApprover(loop.store, "mute", { mayApprove: false });
    assert.equal((await refusal(vote(loop, id, "approved", mute)))[0], "Forbidden");
    assert.equal((await refusal(vote(loop, id, "reopened", ann)))[0], "Conflict");
    assert.equal((await handle.query(approvalQuery)).status, "pending");
    assert.equal((await listApprovalMoves(loop.store.asPlatform(), id)).length, 1);
  });

  it("refuses updates without a stored vote of their own, and seals the attempt", async () => {
    const { id, handle } = await ask();
    const { id: other } = await ask();
    const forged = { key_id: ann.id, principal: "ann", may_approve: true } as never;
    const [malformed] = await refusal(handle.executeUpdate(approveUpdate, { args: [forged] }));
    assert.equal(malformed, "InvalidInput");
    const refs = [
      { vote_id: "VOT-000000000000" },
      { vote_id: await storeVote(loop.store, other, "approved", ann) },
      { vote_id: await storeVote(loop.store, id, "denied", ann) },
    ];
    for (const ref of refs) {
      const [type, why] = await refusal(handle.executeUpdate(approveUpdate, { args: [ref] }));
      assert.equal(type, "Forbidden", JSON.stringify(ref));
      assert.match(why, /Nobody has approved APR-\w+ through the gateway/);
    }
    const { status, approvers, moves } = (await getApproval(loop.store.asPlatform(), id))!;
    assert.deepEqual([status, approvers, moves], ["pending", [], 1]);
    const tried = await eventually(async () => {
      const all = await exportReceipts(loop.store, { from: 0, to: 10_000 });
      const found = all.map(({ text }) => JSON.parse(text))
        .filter(({ subject, action }) => subject === id && action !== "approval.requested");
      return found.length > 0 ? found : undefined;
    });
    assert.deepEqual(tried.map(({ action, outcome, actor }) => [action, outcome, actor]), [
      ["approval.refused", "refused", "itsm-loop"],
    ]);
    const said = await vote(loop, id, "approved", await createApprover(loop.store, "bob"));
    assert.equal(said.status, "approved");
  });

  it("needs as many votes as the database says, whatever a run was started with", async () => {
    const { id, handle } = await ask({ needed: 2 });
    await eventually(() => getApproval(loop.store.asPlatform(), id));
    await handle.terminate("by a stranger");
    const reopens = { status: "expired", moves: 1 } as const;
    const few = { needed: 1, expires_in_seconds: 3_600, escalate_after_seconds: 0 };
    const { handle: forged } = await ask({ approval_id: id, ...few, reopens });
    await vote(loop, id, "reopened", ann);
    assert.equal((await vote(loop, id, "approved", ann)).status, "pending");
    const bob = await createApprover(loop.store, "bob");
    assert.equal((await vote(loop, id, "approved", bob)).status, "approved");
    assert.equal((await forged.result()).status, "approved");
  });

  it("counts a vote once, although its update is repeated, with the same result", async () => {
    const { id, handle } = await ask({ needed: 2 });
    const vote_id = await storeVote(loop.store, id, "approved", ann);
    const first = await handle.executeUpdate(approveUpdate, { args: [{ vote_id }] });
    const again = await handle.executeUpdate(approveUpdate, { args: [{ vote_id }] });
    assert.deepEqual(again, first);
    assert.deepEqual([again.status, again.approvers], ["pending", [`key:${ann.id}`]]);
    assert.equal((await listApprovalMoves(loop.store.asPlatform(), id)).length, 2);
  });

  it("refuses a repeated update in the same way", async () => {
    const { id, handle } = await ask();
    const mute = await createApprover(loop.store, "mute", { mayApprove: false });
    const vote_id = await storeVote(loop.store, id, "approved", mute);
    const tell = () => refusal(handle.executeUpdate(approveUpdate, { args: [{ vote_id }] }));
    const first = await tell();
    assert.equal(first[0], "Forbidden");
    assert.deepEqual(await tell(), first);
  });

  it("keeps the receipt of the decision if its time is over at that moment", async () => {
    const { id, handle } = await ask();
    await vote(loop, id, "denied", ann);
    const { receipt_id } = await handle.result();
    const run = { workflow_id: handle.workflowId, run_id: handle.firstExecutionRunId };
    for (const move of ["escalated", "expired"] as const) {
      const late = await moveApproval(loop, { approval_id: id, run, move, cycle: 0 });
      assert.deepEqual([late.status, late.receipt_id], ["denied", receipt_id]);
    }
  });

  it("does not count approvals by keys that are revoked or expired at the last vote, and seals that", async () => {
    const { id } = await ask({ needed: 2 });
    const lost = await createApprover(loop.store, "bob");
    const old = await createApprover(loop.store, "cy");
    await vote(loop, id, "approved", lost);
    await takeKey(loop.store, lost.id);
    assert.equal((await vote(loop, id, "approved", old)).status, "pending");
    await takeKey(loop.store, old.id, new Date(0));
    const { status, approvers, receipt_id } = await vote(loop, id, "approved", ann);
    assert.deepEqual([status, approvers], ["pending", [`key:${ann.id}`]]);
    const moves = await listApprovalMoves(loop.store.asPlatform(), id);
    assert.deepEqual(moves.map(({ not_counted }) => not_counted), [[], [], [lost.id], [old.id]]);
    await loop.sealer.sealed(receipt_id!);
    const receipts = (await exportReceipts(loop.store, { from: 0, to: 10_000 })).map(({ text }) =>
      JSON.parse(text)
    );
    const { details } = receipts.find((receipt) => receipt.id === receipt_id);
    assert.deepEqual([details.approvers, details.not_counted], [
      [await voter(id, "ann")],
      [await voter(id, "cy")],
    ]);
    const again = await createApprover(loop.store, "bob"); // with a new key, a vote again
    assert.equal((await vote(loop, id, "approved", again)).status, "approved");
  });

  it("ignores a request to cancel it", async () => {
    const { id, handle } = await ask();
    await handle.cancel();
    await vote(loop, id, "approved", ann);
    assert.equal((await handle.result()).status, "approved");
  });

  it("starts the requesting loop again if it has ended, once, and cites its receipt", async () => {
    const { ticket_id, receipt_id, asking_run } = await escalated();
    const { id, handle, request } = await ask({ ticket_id, subject: ticket_id, asking_run });
    await vote(loop, id, "approved", ann);
    await handle.result();
    const { resumedRun } = (await getApproval(loop.store.asPlatform(), id))!;
    assert.equal(resumedRun?.workflow_id, asking_run.workflow_id);
    assert.notEqual(resumedRun?.run_id, asking_run.run_id);
    const again = loop.client.workflow.getHandle<typeof itsmLoop>(
      resumedRun!.workflow_id,
      resumedRun!.run_id,
    );
    assert.equal((await again.result()).ticket_id, ticket_id);
    const { events } = await again.fetchHistory();
    const [payload] = events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads!;
    const [{ resumes }] = (await readEnvelope(loop.store, payload))!.args as [Finding];
    assert.deepEqual(resumes, {
      approval_id: id,
      action_sha256: request.action_sha256,
      receipt_id,
    });
  });

  it("starts nothing if the ticket was resolved by hand meanwhile", async () => {
    const { ticket_id, asking_run } = await escalated();
    const { id, handle } = await ask({ ticket_id, subject: ticket_id, asking_run });
    await resolveTicket(loop.store.asPlatform(), ticket_id, {
      outcome: "resolved",
      resolution: "by hand",
      receiptId: "people",
    });
    await vote(loop, id, "approved", ann);
    assert.equal((await handle.result()).status, "approved");
    assert.equal((await getApproval(loop.store.asPlatform(), id))?.resumedRun, null);
    assert.equal((await getTicket(loop.store.asPlatform(), ticket_id))?.status, "resolved");
  });

  it("expires if its run is ended from outside, is sealed as such, and can be reopened", async () => {
    const { id, handle } = await ask();
    await eventually(() => getApproval(loop.store.asPlatform(), id));
    await handle.terminate("by hand");
    const reconcile = () =>
      loop.client.workflow.execute<typeof reconcileRuns>(WORKFLOW.reconcileRuns, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: "reconcile",
        args: [],
      });
    assert.equal((await reconcile()).sealed, 1);
    assert.equal((await reconcile()).sealed, 0);
    const { status, moves } = (await getApproval(loop.store.asPlatform(), id))!;
    assert.deepEqual([status, moves], ["expired", 2]);
    const { receipt_id } = (await listApprovalMoves(loop.store.asPlatform(), id)).at(-1)!;
    await loop.sealer.sealed(receipt_id);
    const [{ text }] = (await exportReceipts(loop.store, { from: 0, to: 10_000 }))
      .filter(({ text }) => JSON.parse(text).id === receipt_id) as unknown as [{ text: string }];
    const { action, outcome, details } = JSON.parse(text);
    assert.deepEqual([action, outcome, details.ended], [
      "approval.expired",
      "expired",
      "TERMINATED",
    ]);
    const { handle: again } = await ask({
      approval_id: id,
      reopens: { status: "expired", moves },
      needed: 1,
      expires_in_seconds: 3_600,
      escalate_after_seconds: 0,
    });
    await vote(loop, id, "reopened", ann);
    await vote(loop, id, "approved", ann);
    assert.equal((await again.result()).status, "approved");
  });

  it("starts no loop while the requesting one still waits", async () => {
    const waiting = await loop.client.workflow.start<typeof approval>(WORKFLOW.approval, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `approval-APR-${"0".repeat(12)}`,
      args: [{
        approval_id: `APR-${"0".repeat(12)}`,
        subject: "x",
        action: {},
        action_sha256: bindAction({}, "{}").actionSha256,
        requested_by: "x",
      }],
    }); // any run that goes on
    const finding: Finding = {
      service: null,
      check: "report",
      code: "x",
      fingerprint: randomBytes(8).toString("hex"),
      observed_at: new Date().toISOString(),
    };
    const asking_run = {
      workflow_id: waiting.workflowId,
      run_id: waiting.firstExecutionRunId,
      finding,
    };
    const { id, handle } = await ask({ asking_run });
    await vote(loop, id, "approved", ann);
    await handle.result();
    assert.equal((await getApproval(loop.store.asPlatform(), id))?.resumedRun, null);
  });

  it("seals a name of this approval alone and a commitment to the action, and nobody's key or name", async () => {
    const { id } = await ask({ action: { secret: "plan" } });
    const { receipt_id } = await vote(loop, id, "approved", ann);
    await loop.sealer.sealed(receipt_id!);
    const all = (await exportReceipts(loop.store, { from: 0, to: 10_000 })).map(({ text }) =>
      JSON.parse(text)
    );
    const mine = all.filter(({ subject }) => subject === id);
    assert.deepEqual(mine.map(({ actor }) => actor), ["itsm-loop", await voter(id, "Ann ")]);
    assert.notEqual(mine[1].actor, await voter("APR-000000000000", "ann"));
    const [first, second] = mine.map(({ details }) => details.action_commitment);
    assert.match(first, /^[0-9a-f]{64}$/);
    assert.equal(second, first, "all receipts of an approval name its action alike");
    assert.ok(!JSON.stringify(mine).includes(ann.id));
    assert.ok(!/ann"|plan/.test(JSON.stringify(mine)));
  });
});

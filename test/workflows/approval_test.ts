import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { exportReceipts } from "../../ledger/mod.ts";
import { approvalMoves, getApproval, getTicket, issueKey } from "../../store/mod.ts";
import {
  APPROVAL,
  type approval,
  approvalQuery,
  type ApprovalRequest,
  approveUpdate,
  denyUpdate,
  type Finding,
  ITSM_LOOP,
  type itsmLoop,
  RECONCILE_RUNS,
  type reconcileRuns,
  reopenUpdate,
  TASK_QUEUE,
  type Voice,
} from "../../workflows/mod.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { eventually } from "./_story.ts";

const ann: Voice = { key_id: "00000000000000aa", principal: "ann", may_approve: true };

describe("the approval workflow", () => {
  let loop: TestLoop;
  before(async () => {
    loop = await openLoop();
  });
  after(() => loop?.stop());

  const ask = async (fields: Partial<ApprovalRequest> = {}) => {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    const request: ApprovalRequest = {
      ...{ approval_id: id, subject: "test", action: { do: "it" }, action_sha256: "0".repeat(64) },
      ...{ requested_by: "itsm-loop", ...fields },
    };
    const handle = await loop.client.workflow.start<typeof approval>(APPROVAL, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `approval-${request.approval_id}`,
      args: [request],
    });
    return { id, handle, request };
  };
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.then(() => assert.fail("It was taken"), (error: Error) => error);
    const { type, message } = error.cause as Error & { type: string };
    return [type, message] as const;
  };
  /** A loop about a report that no service is named in: it escalates at once. */
  const escalated = async () => {
    const finding: Finding = {
      ...{ service: null, check: "report", code: "reported", report: "The lift is stuck" },
      fingerprint: randomBytes(8).toString("hex"),
      observed_at: new Date().toISOString(),
    };
    const handle = await loop.client.workflow.start<typeof itsmLoop>(ITSM_LOOP, {
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
    const record = await eventually(() => getApproval(loop.store.knex, id));
    assert.deepEqual([record.needed, record.expiresInSeconds, record.escalateAfterSeconds], [
      ...[1, 259_200, 3_600],
    ]);
    await handle.executeUpdate(denyUpdate, { args: [ann] });
    assert.equal((await handle.result()).status, "denied");
  });

  it("knows the holder of the key that asked, by whichever key", async () => {
    const { record } = await issueKey(loop.store.knex, {
      ...{ tenant: "t", tier: "partner", scope: "full", principal: "Ann", mayApprove: false },
      expiresAt: null,
    });
    const { handle } = await ask({ requested_by: `key:${record.id}` });
    const [type, message] = await refusal(handle.executeUpdate(approveUpdate, { args: [ann] }));
    assert.equal(type, "Forbidden");
    assert.match(message, /asked for by the holder/);
    const cy = { key_id: "00000000000000cc", principal: "cy", may_approve: true };
    assert.equal((await handle.executeUpdate(approveUpdate, { args: [cy] })).status, "approved");
  });

  it("refuses voices without the right, and moves that do not fit", async () => {
    const { handle } = await ask();
    const mute = { ...ann, may_approve: false };
    assert.equal(
      (await refusal(handle.executeUpdate(approveUpdate, { args: [mute] })))[0],
      "Forbidden",
    );
    assert.equal(
      (await refusal(handle.executeUpdate(reopenUpdate, { args: [ann] })))[0],
      "Conflict",
    );
    assert.equal((await handle.query(approvalQuery)).status, "pending");
    const { events } = await handle.fetchHistory();
    const accepted = events!.filter((event) =>
      event.workflowExecutionUpdateAcceptedEventAttributes
    );
    assert.equal(accepted.length, 0, "a refused voice leaves no event");
  });

  it("outlives a request to cancel it", async () => {
    const { handle } = await ask();
    await handle.cancel();
    await handle.executeUpdate(approveUpdate, { args: [ann] });
    assert.equal((await handle.result()).status, "approved");
  });

  it("starts the loop anew that asked and has ended, citing its sealed receipt, once", async () => {
    const { ticket_id, receipt_id, asking_run } = await escalated();
    const { id, handle, request } = await ask({ ticket_id, subject: ticket_id, asking_run });
    await handle.executeUpdate(approveUpdate, { args: [ann] });
    await handle.result();
    const { resumedRun } = (await getApproval(loop.store.knex, id))!;
    assert.equal(resumedRun?.workflow_id, asking_run.workflow_id);
    assert.notEqual(resumedRun?.run_id, asking_run.run_id);
    const again = loop.client.workflow.getHandle<typeof itsmLoop>(
      resumedRun!.workflow_id,
      resumedRun!.run_id,
    );
    assert.equal((await again.result()).ticket_id, ticket_id);
    const { events } = await again.fetchHistory();
    const [payload] = events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads!;
    const { resumes } = JSON.parse(Buffer.from(payload!.data!).toString());
    assert.deepEqual(resumes, {
      approval_id: id,
      action_sha256: request.action_sha256,
      receipt_id,
    });
  });

  it("starts nothing where the ticket was resolved by hand meanwhile", async () => {
    const { ticket_id, asking_run } = await escalated();
    const { id, handle } = await ask({ ticket_id, subject: ticket_id, asking_run });
    await loop.store.knex("tickets").where({ id: ticket_id }).update({
      status: "resolved",
      resolved_at: new Date(),
    });
    await handle.executeUpdate(approveUpdate, { args: [ann] });
    assert.equal((await handle.result()).status, "approved");
    assert.equal((await getApproval(loop.store.knex, id))?.resumedRun, null);
    assert.equal((await getTicket(loop.store.knex, ticket_id))?.status, "resolved");
  });

  it("expires where it was ended from outside, is sealed as such, and can be reopened", async () => {
    const { id, handle } = await ask();
    await eventually(() => getApproval(loop.store.knex, id));
    await handle.terminate("by hand");
    const reconcile = () =>
      loop.client.workflow.execute<typeof reconcileRuns>(RECONCILE_RUNS, {
        ...{ taskQueue: TASK_QUEUE.itsm, workflowId: "reconcile", args: [] },
      });
    assert.equal((await reconcile()).sealed, 1);
    assert.equal((await reconcile()).sealed, 0);
    const { status, moves } = (await getApproval(loop.store.knex, id))!;
    assert.deepEqual([status, moves], ["expired", 2]);
    const { receipt_id } = (await approvalMoves(loop.store.knex, id)).at(-1)!;
    await loop.sealer.sealed(receipt_id);
    const [{ text }] = (await exportReceipts(loop.store, { from: 0, to: 10_000 }))
      .filter(({ text }) => JSON.parse(text).id === receipt_id) as unknown as [{ text: string }];
    const { action, outcome, details } = JSON.parse(text);
    assert.deepEqual([action, outcome, details.ended], [
      ...["approval.expired", "expired", "TERMINATED"],
    ]);
    const { handle: again } = await ask({
      ...{ approval_id: id, reopens: { status: "expired", moves } },
      ...{ needed: 1, expires_in_seconds: 3_600, escalate_after_seconds: 0 },
    });
    await again.executeUpdate(reopenUpdate, { args: [ann] });
    await again.executeUpdate(approveUpdate, { args: [ann] });
    assert.equal((await again.result()).status, "approved");
  });

  it("leaves a loop alone that still waits", async () => {
    const waiting = await loop.client.workflow.start<typeof approval>(APPROVAL, {
      ...{ taskQueue: TASK_QUEUE.itsm, workflowId: `approval-APR-${"0".repeat(12)}` },
      args: [{
        approval_id: `APR-${"0".repeat(12)}`,
        subject: "x",
        action_sha256: "0".repeat(64),
        requested_by: "x",
      }],
    }); // any run that goes on
    const finding: Finding = {
      service: null,
      check: "report",
      code: "x",
      fingerprint: "f",
      observed_at: "",
    };
    const asking_run = {
      workflow_id: waiting.workflowId,
      run_id: waiting.firstExecutionRunId,
      finding,
    };
    const { id, handle } = await ask({ asking_run });
    await handle.executeUpdate(approveUpdate, { args: [ann] });
    await handle.result();
    assert.equal((await getApproval(loop.store.knex, id))?.resumedRun, null);
  });

  it("seals who by key and which action by hash, and nobody's name", async () => {
    const { id, handle } = await ask({ action: { secret: "plan" } });
    const { receipt_id } = await handle.executeUpdate(approveUpdate, { args: [ann] });
    await loop.sealer.sealed(receipt_id!);
    const all = (await exportReceipts(loop.store, { from: 0, to: 10_000 })).map(({ text }) =>
      JSON.parse(text)
    );
    const mine = all.filter(({ subject }) => subject === id);
    assert.deepEqual(mine.map(({ actor }) => actor), ["itsm-loop", `key:${ann.key_id}`]);
    assert.equal(mine[1].details.action_sha256, "0".repeat(64));
    assert.ok(!/ann"|plan/.test(JSON.stringify(mine)));
  });
});

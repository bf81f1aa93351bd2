/** Attacks of somebody who reaches Temporal without being a process of the platform. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { approveUpdate, TASK_QUEUE, WORKFLOW } from "../../../contract/domain/mod.ts";
import { eventually } from "../../_time.ts";
import { openLoop, type TestLoop } from "../../workflows/_loop.ts";

const UNAUTHENTICATED = "UnauthenticatedPayload";
const REQUEST = { id: "0a1b2c3d", scenario: "crash", requested_by: "key:1" } as const;

describe("strangers at Temporal", function () {
  let loop: TestLoop;
  let connection: Connection;
  let stranger: Client;
  const ran: string[] = [];
  /** Activities wait for it before they begin. */
  let hold: Promise<void> = Promise.resolve();

  before(async () => {
    loop = await openLoop({
      schedules: ["anchor"],
      watch: async (moment, activity) => {
        if (moment !== "before" || activity === "runLedgerSequencer") return;
        ran.push(activity);
        await hold;
      },
    });
    connection = await Connection.connect({ address: loop.place.address });
    stranger = new Client({ connection, namespace: loop.place.namespace });
  });
  after(async () => {
    await connection.close();
    await loop.stop();
  });
  beforeEach(() => void ran.splice(0));

  /** Lets no activity begin until the function that it returns is called. */
  function holdActivities(): () => void {
    let release = () => {};
    hold = new Promise<void>((resolve) => release = resolve);
    return release;
  }

  /** Resolves when the run has failed as nobody of the platform has sent it, and no activity of it ran. */
  async function assertRefused(run: Pick<WorkflowHandle, "workflowId" | "fetchHistory">) {
    const events = await eventually(async () => {
      const { events } = await run.fetchHistory();
      return events?.some((event) => event.workflowExecutionFailedEventAttributes)
        ? events
        : undefined;
    });
    const { failure } = events.at(-1)!.workflowExecutionFailedEventAttributes!;
    assert.equal(failure?.applicationFailureInfo?.type, UNAUTHENTICATED);
    assert.equal(events.filter((event) => event.activityTaskScheduledEventAttributes).length, 0);
    assert.deepEqual(ran, []);
  }

  const handle = (workflowId: string) => loop.client.workflow.getHandle(workflowId);

  /** Starts a run by the service itself, with payloads as they are. */
  async function startRaw(
    type: string,
    workflowId: string,
    payloads: Payload[],
    indexedFields: Record<string, Payload> = {},
  ): Promise<WorkflowHandle> {
    await stranger.workflowService.startWorkflowExecution({
      namespace: loop.place.namespace,
      workflowId,
      workflowType: { name: type },
      taskQueue: { name: TASK_QUEUE.itsm },
      requestId: randomUUID(),
      input: { payloads },
      searchAttributes: { indexedFields },
    });
    return handle(workflowId);
  }

  /** Returns the payloads with which the platform has started a run. */
  async function startPayloads(run: Pick<WorkflowHandle, "fetchHistory">): Promise<Payload[]> {
    const { events } = await run.fetchHistory();
    return events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads!;
  }

  const attribute = (tenant: string): Payload => ({
    metadata: { encoding: Buffer.from("json/plain"), type: Buffer.from("Keyword") },
    data: Buffer.from(JSON.stringify(tenant)),
  });

  it("start nothing", async () => {
    const id = "x/../../../victim";
    const started = await stranger.workflow.start(WORKFLOW.itsmTest, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "test-stranger",
      args: [{ ...REQUEST, id }],
    });
    await assertRefused(started);
    await assertRefused(await startRaw(WORKFLOW.reconcileRuns, "no-arguments", []));
    const envelope = { envelope: "start", name: WORKFLOW.itsmTest, of: "forged" };
    const forged = { ...envelope, tenant: "platform", args: [REQUEST], mac: "A".repeat(43) };
    await assertRefused(await startRaw(WORKFLOW.itsmTest, "forged", [json(forged)]));
  });

  it("start nothing by a signal", async () => {
    const options = { taskQueue: TASK_QUEUE.itsm, args: [{ command_id: "CMD-000000000001" }] };
    const run = await stranger.workflow.signalWithStart(WORKFLOW.deviceCommand, {
      ...options,
      workflowId: "command-stranger",
      signal: "commandChanged",
      signalArgs: [],
    });
    await assertRefused(run);
  });

  it("use a payload of the platform's for nothing else", async () => {
    const run = await loop.client.workflow.start(WORKFLOW.reconcileRuns, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "reconcile-copied",
    });
    await run.result();
    const payloads = await startPayloads(run);
    ran.splice(0);
    await assertRefused(await startRaw(WORKFLOW.tellDue, "reconcile-copied", payloads));
    await assertRefused(await startRaw(WORKFLOW.reconcileRuns, "another-id", payloads));
    const rival = { SealoopTenant: attribute("rival") };
    await assertRefused(
      await startRaw(WORKFLOW.reconcileRuns, "reconcile-copied", payloads, rival),
    );
  });

  it("are those who start a run again as it was, as the Web UI does", async () => {
    const run = await loop.client.workflow.start(WORKFLOW.reconcileRuns, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "reconcile-like",
    });
    await run.result();
    const [payload] = await startPayloads(run);
    // The form shows the first payload's JSON, and sends it with nothing but its encoding.
    const shown = JSON.parse(Buffer.from(payload!.data!).toString());
    const again = await startRaw(WORKFLOW.reconcileRuns, "reconcile-like", [json(shown)]);
    assert.ok("sealed" in await again.result());
  });

  it("may trigger a schedule of the platform's, and reset a run of it", async () => {
    const { schedule } = stranger;
    await schedule.getHandle("sealoop-anchor").trigger();
    const triggered = await eventually(async () => {
      const { info } = await schedule.getHandle("sealoop-anchor").describe();
      return info.recentActions.at(-1)?.action.workflow;
    });
    const run = handle(triggered.workflowId);
    assert.ok("anchors" in await run.result());

    const { events } = await run.fetchHistory();
    const first = events!.find((event) => event.workflowTaskCompletedEventAttributes)!;
    await stranger.workflowService.resetWorkflowExecution({
      namespace: loop.place.namespace,
      workflowExecution: { workflowId: run.workflowId },
      reason: "Once more",
      workflowTaskFinishEventId: first.eventId,
      requestId: randomUUID(),
    });
    assert.ok("anchors" in await handle(run.workflowId).result());
  });

  it("send signals and updates in vain", async () => {
    const release = holdActivities(); // the run goes on waiting for its first one
    const approval = {
      approval_id: "APR-00000000abcd",
      subject: "strangers",
      action_sha256: "0".repeat(64),
      requested_by: "program",
    };
    const run = await loop.client.workflow.start(WORKFLOW.approval, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `approval-${approval.approval_id}`,
      args: [approval],
    });
    const foreign = stranger.workflow.getHandle(run.workflowId);
    await foreign.signal("callChanged");
    await assert.rejects(
      foreign.executeUpdate(approveUpdate, { args: [{ vote_id: "VOT-000000000000" }] }),
      /WorkflowUpdateFailedError|Update failed|UnauthenticatedPayload/,
    );
    assert.ok(!ran.includes("moveApproval"));
    await run.terminate();
    release();
  });

  it("answer no activity in place of a worker", async () => {
    const release = holdActivities();
    const run = await loop.client.workflow.start(WORKFLOW.reconcileRuns, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "reconcile-answered",
    });
    const activityId = await eventually(async () =>
      ran.length > 0
        ? (await run.describe()).raw.pendingActivities?.[0]?.activityId ?? undefined
        : undefined
    );
    await stranger.workflowService.respondActivityTaskCompletedById({
      namespace: loop.place.namespace,
      workflowId: run.workflowId,
      activityId,
      result: { payloads: [json([])] },
    });
    const failure = await eventually(async () => {
      const { events } = await run.fetchHistory();
      return events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure ?? undefined;
    });
    release();
    assert.equal(failure.applicationFailureInfo?.type, UNAUTHENTICATED);
  });
});

/** Returns a payload as any program makes it. */
function json(value: unknown): Payload {
  return {
    metadata: { encoding: Buffer.from("json/plain") },
    data: Buffer.from(JSON.stringify(value, null, 2)),
  };
}

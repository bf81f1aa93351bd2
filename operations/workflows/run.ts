import { z } from "zod";
import {
  awaitedApproval,
  describeAwaited,
  mapTemporalErrors,
  operation,
  refuseOtherKeys,
  refuseOtherTenants,
  runOwner,
  waitForRun,
} from "../../calls/mod.ts";
import { AwaitedApproval, Timestamp, WorkflowId } from "../schemas/mod.ts";
import { exampleRun, Run, toRun, withWorkflow } from "./_run.ts";

/** Longest wait for the result of a run that has ended. */
const ENDED_TIMEOUT_SECONDS = 10;

/** The latest run of a workflow. */
export const workflowInfo = operation({
  name: "workflows.describe",
  group: "workflows",
  summary: "Get the latest run of a workflow",
  effect: "read",
  access: "key",
  input: z.object({ workflow_id: WorkflowId }),
  output: Run,
  rest: { workflow_describe: "GET /v1/workflows/{workflow_id}" },
  presentation: { errors: ["NotFound", "Forbidden", "Unavailable"] },
  governance: { ownerOf: runOwner },
  example: { input: { workflow_id: exampleRun.workflow_id }, output: exampleRun },
  run: ({ workflow_id }, context) =>
    withWorkflow(context, workflow_id, async (handle) => {
      const run = await handle.describe();
      refuseOtherTenants(context, run);
      return toRun(run);
    }),
});

/** The result of the latest run, which is waited for. */
export const workflowResult = operation({
  name: "workflows.result",
  group: "workflows",
  summary: "Wait for a workflow to end, and get its result",
  description:
    "The result of a conversation, a question or a diagnosis by the crew is only for the key that asked.",
  effect: "read",
  access: "key",
  input: z.object({
    workflow_id: WorkflowId,
    timeout_seconds: z.number().int().min(0).max(60).default(30).describe(
      "Maximum seconds to wait; 0: do not wait",
    ),
  }),
  output: z.object({
    workflow_id: z.string(),
    run_id: z.string(),
    status: z.string().describe("RUNNING: the run has not ended within the time"),
    result: z.unknown().optional().describe(
      "Result of the run; absent: it has not ended, or it failed",
    ),
    failure: z.object({ message: z.string(), type: z.string() }).optional(),
    waits_for: AwaitedApproval.optional().describe(
      "The approval by people that a running loop waits for; absent: it waits for none",
    ),
  }),
  rest: { workflow_result: "GET /v1/workflows/{workflow_id}/result" },
  presentation: { errors: ["NotFound", "Forbidden", "Unavailable"] },
  governance: { ownerOf: runOwner },
  example: {
    input: { workflow_id: exampleRun.workflow_id, timeout_seconds: 30 },
    output: {
      workflow_id: exampleRun.workflow_id,
      run_id: exampleRun.run_id,
      status: "COMPLETED",
      result: {
        outcome: "sealed",
        ticket_id: "INC-4f1d22a90b7c",
        receipt_id: "9f2c4b7a01d3e856",
        steps: [],
      },
    },
  },
  run: async ({ workflow_id, timeout_seconds }, context) => {
    const client = await context.temporal();
    const handle = client.workflow.getHandle(workflow_id);
    const before = await withWorkflow(context, workflow_id, () => handle.describe());
    refuseOtherTenants(context, before);
    await mapTemporalErrors(refuseOtherKeys(context, before.type, handle));
    const isRunning = before.status.name === "RUNNING";
    const seconds = isRunning ? timeout_seconds : ENDED_TIMEOUT_SECONDS;
    const end = await waitForRun(
      client,
      handle,
      seconds,
      AbortSignal.any([context.signal, context.ending]),
    );
    const { runId, status } = end ? await mapTemporalErrors(handle.describe()) : before;
    const asked = end ? undefined : await awaitedApproval(client, handle, before.type);
    const awaited = asked && await describeAwaited(context.store.db, asked);
    return {
      workflow_id,
      run_id: runId,
      status: status.name,
      ...end,
      ...(awaited ? { waits_for: awaited } : {}),
    };
  },
});

/** The events of the latest run. */
export const workflowHistory = operation({
  name: "workflows.history",
  group: "workflows",
  summary: "List the events of a workflow's latest run, without payloads",
  description:
    "Arguments, results and details of failures are left out, as they may contain evidence.",
  effect: "read",
  access: "key",
  input: z.object({ workflow_id: WorkflowId }),
  output: z.object({
    workflow_id: z.string(),
    events: z.array(z.object({
      event_id: z.number().int(),
      type: z.string(),
      at: Timestamp,
      activity: z.string().nullable(),
    })),
  }),
  rest: { workflow_history: "GET /v1/workflows/{workflow_id}/history" },
  presentation: { errors: ["NotFound", "Forbidden", "Unavailable"] },
  governance: { ownerOf: runOwner },
  example: {
    input: { workflow_id: exampleRun.workflow_id },
    output: {
      workflow_id: exampleRun.workflow_id,
      events: [{
        event_id: 1,
        type: "WORKFLOW_EXECUTION_STARTED",
        at: "2026-07-01T12:00:00.000Z",
        activity: null,
      }],
    },
  },
  run: async ({ workflow_id }, context) => {
    const { events } = await withWorkflow(context, workflow_id, async (handle) => {
      refuseOtherTenants(context, await handle.describe());
      return await handle.fetchHistory();
    });
    return {
      workflow_id,
      events: (events ?? []).map((event) => ({
        event_id: Number(event.eventId),
        type: eventType(event),
        at: new Date(
          Number(event.eventTime?.seconds ?? 0) * 1e3 + (event.eventTime?.nanos ?? 0) / 1e6,
        ).toISOString(),
        activity: event.activityTaskScheduledEventAttributes?.activityType?.name ?? null,
      })),
    };
  },
});

/** Returns the type of an event, by the name of its only attributes: `WORKFLOW_EXECUTION_STARTED`. */
function eventType(event: object): string {
  const suffix = "EventAttributes";
  const attributes = Object.entries(event).find(([name, value]) => name.endsWith(suffix) && value);
  const name = (attributes?.[0] ?? "unknown").replace(suffix, "");
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

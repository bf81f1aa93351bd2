import { z } from "zod";
import { refuseOthers, refuseOtherTenants } from "./_private_runs.ts";
import { exampleRun, group, ofWorkflow, RunShape, shownRun } from "./_run_shapes.ts";
import { Timestamp, WorkflowId } from "../_shapes.ts";
import { mapTemporalErrors, operation, waitForRun } from "../../calls/mod.ts";

/** Describes a run. */
export const describeRun = operation({
  name: "workflows.describe",
  group,
  summary: "Describe the latest run of a workflow",
  effect: "read",
  access: "key",
  input: z.object({ workflow_id: WorkflowId }),
  output: RunShape,
  rest: { workflow_describe: "GET /v1/workflows/{workflow_id}" },
  errors: ["NotFound", "Forbidden", "Unavailable"],
  example: { input: { workflow_id: exampleRun.workflow_id }, output: exampleRun },
  run: async ({ workflow_id }, context) =>
    await ofWorkflow(context, workflow_id, async (handle) => {
      const run = await handle.describe();
      await refuseOtherTenants(context, handle, "read", run.type);
      return shownRun(run);
    }),
});

/** Waits for a run. */
export const runResult = operation({
  name: "workflows.result",
  group,
  summary: "Wait for a workflow to end, and give its result",
  description:
    "What a conversation, a question or a diagnosis by the crew has led to is given to the key that asked alone; what " +
    "else a tenant's keys have started, but for loops, to that tenant.",
  effect: "read",
  access: "key",
  input: z.object({
    workflow_id: WorkflowId,
    timeout_seconds: z.number().int().min(0).max(60).default(30).describe(
      "Longest to wait; 0 only looks",
    ),
  }),
  output: z.object({
    workflow_id: z.string(),
    run_id: z.string(),
    status: z.string().describe("RUNNING where it has not ended within the time"),
    result: z.unknown().optional().describe(
      "What it gave; left out where it has not ended, or has failed",
    ),
    failure: z.object({ message: z.string(), type: z.string() }).optional(),
  }),
  rest: { workflow_result: "GET /v1/workflows/{workflow_id}/result" },
  errors: ["NotFound", "Forbidden", "Unavailable"],
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
    const before = await ofWorkflow(context, workflow_id, () => handle.describe());
    await mapTemporalErrors(refuseOthers(context, before.type, handle));
    await mapTemporalErrors(refuseOtherTenants(context, handle, "read", before.type));
    const seconds = before.status.name === "RUNNING" ? timeout_seconds : 10;
    const ended = await waitForRun(client, handle, seconds, context.signal);
    const { runId, status } = ended ? await mapTemporalErrors(handle.describe()) : before;
    return { workflow_id, run_id: runId, status: status.name, ...ended };
  },
});

/** Reads a run's history. */
export const runHistory = operation({
  name: "workflows.history",
  group,
  summary: "Read the events of a workflow's latest run, without payloads",
  description: "Arguments, results and failures' details are left out: they may hold evidence.",
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
  errors: ["NotFound", "Forbidden", "Unavailable"],
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
    const history = await ofWorkflow(context, workflow_id, async (handle) => {
      const { type } = await handle.describe();
      await refuseOtherTenants(context, handle, "read", type);
      return await handle.fetchHistory();
    });
    const events = (history.events ?? []).map((event) => ({
      event_id: Number(event.eventId),
      type: eventType(event),
      at: new Date(
        Number(event.eventTime?.seconds ?? 0) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6,
      ).toISOString(),
      activity: event.activityTaskScheduledEventAttributes?.activityType?.name ?? null,
    }));
    return { workflow_id, events };
  },
});

/** The event's kind, by the one field of attributes that it has. */
function eventType(event: object): string {
  const field = Object.entries(event).find(([name, value]) =>
    name.endsWith("EventAttributes") && value
  );
  return (field?.[0] ?? "unknown").replace("EventAttributes", "").replace(/[A-Z]/g, (c) => `_${c}`)
    .toUpperCase();
}

import { WorkflowFailedError, WorkflowNotFoundError } from "@temporalio/client";
import { z } from "zod";
import { parseInput, Problem } from "../contract/mod.ts";
import {
  ITSM_LOOP,
  ITSM_SWEEP,
  ITSM_TEST,
  RECONCILE_RUNS,
  SCRUB_LEDGER,
  SEAL_REQUEST,
} from "../workflows/mod.ts";
import { runLoop, runTest } from "./itsm_runs.ts";
import { type Context, operation } from "./platform.ts";
import { Limit, Timestamp, WorkflowId } from "./_shapes.ts";

const STATUS = [
  "RUNNING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "TERMINATED",
  "CONTINUED_AS_NEW",
  "TIMED_OUT",
] as const;
const Run = z.looseObject({
  workflow_id: z.string(),
  run_id: z.string(),
  type: z.string(),
  status: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
}).meta({ id: "WorkflowRun" });

const exampleRun = {
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
  type: "itsmLoop",
  status: "COMPLETED",
  started_at: "2026-07-01T12:00:00.000Z",
  ended_at: "2026-07-01T12:00:01.000Z",
  search_attributes: { SealoopStep: "CLOSE+SEAL", SealoopOutcome: "sealed" },
};
const group = "workflows";

/** Types of workflows; those that a caller may start, through which operation. */
const TYPES = [
  {
    type: ITSM_LOOP,
    about: "One incident, from finding to sealed receipt",
    startable: true,
    operation: runLoop,
  },
  {
    type: ITSM_TEST,
    about: "A test incident on a small real service",
    startable: true,
    operation: runTest,
  },
  { type: ITSM_SWEEP, about: "Probes every watched service", startable: false },
  { type: RECONCILE_RUNS, about: "Seals runs that were ended from outside", startable: false },
  { type: SEAL_REQUEST, about: "Seals what a caller asked for", startable: false },
  {
    type: SCRUB_LEDGER,
    about: "Verifies the whole ledger from its stored bytes",
    startable: false,
  },
] as const;

// deno-lint-ignore no-explicit-any -- the client's description of a run
function shown(info: any) {
  return {
    workflow_id: info.workflowId,
    run_id: info.runId,
    type: info.type,
    status: info.status.name,
    started_at: info.startTime.toISOString(),
    ended_at: info.closeTime?.toISOString() ?? null,
    search_attributes: Object.fromEntries(
      // deno-lint-ignore no-explicit-any -- likewise
      info.typedSearchAttributes.getAll().map(({ key, value }: any) => [key.name, value]),
    ),
  };
}

async function handleOf({ temporal }: Context, workflowId: string) {
  return (await temporal()).workflow.getHandle(workflowId);
}

/** Turns Temporal's own "not found" into ours. */
async function found<T>(workflowId: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new Problem("NotFound", `There is no workflow ${workflowId}`);
  }
}

/** Lists runs. */
export const listRuns = operation({
  name: "workflows.list",
  group,
  summary: "List runs of workflows, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    status: z.enum(STATUS).optional().describe("Only runs of this status"),
    type: z.enum(TYPES.map(({ type }) => type)).optional().describe("Only runs of this type"),
    limit: Limit,
  }),
  output: z.object({ workflows: z.array(Run) }),
  rest: { workflows_list: "GET /v1/workflows" },
  errors: ["Unavailable"],
  example: { input: { type: ITSM_LOOP, limit: 1 }, output: { workflows: [exampleRun] } },
  run: async ({ status, type, limit }, { temporal }) => {
    const query = [
      ...(status ? [`ExecutionStatus = '${toQuery(status)}'`] : []),
      ...(type ? [`WorkflowType = '${type}'`] : []),
    ].join(" AND ");
    const workflows: ReturnType<typeof shown>[] = [];
    for await (const info of (await temporal()).workflow.list({ query, pageSize: limit })) {
      if (workflows.push(shown(info)) >= limit) break;
    }
    return { workflows };
  },
});

/** `TIMED_OUT` as the visibility store spells it: `TimedOut`. */
function toQuery(status: string): string {
  const words = status.toLowerCase().split("_").map((w) => w[0]!.toUpperCase() + w.slice(1)).join(
    "",
  );
  return words === "Cancelled" ? "Canceled" : words;
}

/** Lists types. */
export const listTypes = operation({
  name: "workflows.types",
  group,
  summary: "List the types of workflows, and which can be started",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    types: z.array(z.object({
      type: z.string(),
      about: z.string(),
      startable: z.boolean(),
      operation: z.string().nullable().describe("Whose rules and input apply to starting it"),
    })),
  }),
  rest: { workflow_types: "GET /v1/workflows/types" },
  example: {
    input: {},
    output: {
      types: [{
        type: ITSM_TEST,
        about: "A test incident",
        startable: true,
        operation: "itsm.test",
      }],
    },
  },
  run: () =>
    Promise.resolve({
      types: TYPES.map((entry) => ({
        type: entry.type,
        about: entry.about,
        startable: entry.startable,
        operation: "operation" in entry ? entry.operation.name : null,
      })),
    }),
});

/** Starts a run through the operation that it belongs to. */
export const startRun = operation({
  name: "workflows.start",
  group,
  summary: "Start a workflow of a startable type, by the rules of its own operation",
  effect: "run",
  access: "partner",
  input: z.object({
    type: z.string().min(1).max(100),
    input: z.record(z.string(), z.unknown()).default({}).describe(
      "Input of the operation that starts it",
    ),
  }),
  output: z.looseObject({ workflow_id: z.string(), run_id: z.string() }),
  rest: { workflow_start: "POST /v1/workflows/start" },
  errors: ["NotFound", "Conflict", "Unavailable"],
  example: {
    input: { type: ITSM_TEST, input: { scenario: "crash" } },
    output: { workflow_id: "test-5f0c21ab", run_id: exampleRun.run_id },
  },
  run: async ({ type, input }, context) => {
    const entry = TYPES.find((known) => known.type === type);
    if (!entry) {
      throw new Problem(
        "NotFound",
        `There is no workflow type ${type}; GET /v1/workflows/types lists them`,
      );
    }
    if (!("operation" in entry)) {
      throw new Problem("Conflict", `Workflows of type ${type} can't be started by a caller`);
    }
    const checked = parseInput(entry.operation.input, input);
    return await entry.operation.run(checked, context) as { workflow_id: string; run_id: string };
  },
});

/** Describes a run. */
export const describeRun = operation({
  name: "workflows.describe",
  group,
  summary: "Describe the latest run of a workflow",
  effect: "read",
  access: "key",
  input: z.object({ workflow_id: WorkflowId }),
  output: Run,
  rest: { workflow_describe: "GET /v1/workflows/{workflow_id}" },
  errors: ["NotFound", "Unavailable"],
  example: { input: { workflow_id: exampleRun.workflow_id }, output: exampleRun },
  run: async ({ workflow_id }, context) => {
    const handle = await handleOf(context, workflow_id);
    return shown(await found(workflow_id, handle.describe()));
  },
});

/** Waits for a run. */
export const runResult = operation({
  name: "workflows.result",
  group,
  summary: "Wait for a workflow to end, and give its result",
  effect: "read",
  access: "key",
  input: z.object({
    workflow_id: WorkflowId,
    timeout_seconds: z.number().int().min(0).max(60).default(30).describe(
      "Longest to wait; 0 only looks",
    ),
  }),
  output: z.looseObject({ workflow_id: z.string(), run_id: z.string(), status: z.string() }),
  rest: { workflow_result: "GET /v1/workflows/{workflow_id}/result" },
  errors: ["NotFound", "Unavailable"],
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
    const handle = await handleOf(context, workflow_id);
    const before = await found(workflow_id, handle.describe());
    const ended = before.status.name === "RUNNING"
      ? await endWithin(handle.result(), timeout_seconds, context.signal)
      : await endWithin(handle.result(), 10, context.signal);
    const { runId, status } = ended ? await handle.describe() : before;
    return { workflow_id, run_id: runId, status: status.name, ...ended };
  },
});

type Ended = { result: unknown } | { failure: { message: string; type: string } };

/** How it ended, or undefined where it has not within the time. */
async function endWithin(
  result: Promise<unknown>,
  seconds: number,
  signal: AbortSignal,
): Promise<Ended | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), seconds * 1000);
    signal.addEventListener("abort", () => resolve(undefined));
  });
  const end = result.then(
    (value): Ended => ({ result: value ?? null }),
    (error): Ended => {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return { failure: { message: rootOf(error).message, type: rootOf(error).name } };
    },
  );
  try {
    return await Promise.race([end, late]);
  } finally {
    clearTimeout(timer);
  }
}

const rootOf = (error: Error): Error => error.cause instanceof Error ? rootOf(error.cause) : error;

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
  errors: ["NotFound", "Unavailable"],
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
    const handle = await handleOf(context, workflow_id);
    const history = await found(workflow_id, handle.fetchHistory());
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

/** Asks a run to end. */
export const cancelRun = operation({
  name: "workflows.cancel",
  group,
  summary: "Ask a running workflow to end",
  effect: "run",
  access: "partner",
  input: z.object({ workflow_id: WorkflowId }),
  output: z.object({ workflow_id: z.string(), cancel_requested: z.literal(true) }),
  rest: { workflow_cancel: "POST /v1/workflows/{workflow_id}/cancel" },
  errors: ["NotFound", "Forbidden", "Unavailable"],
  example: {
    input: { workflow_id: exampleRun.workflow_id },
    output: { workflow_id: exampleRun.workflow_id, cancel_requested: true },
  },
  run: async ({ workflow_id }, context) => {
    if (!/^(loop|test|sweep)-/.test(workflow_id)) {
      throw new Problem(
        "Forbidden",
        "Only runs of the incident loop can be cancelled; the platform needs the others",
      );
    }
    const handle = await handleOf(context, workflow_id);
    await found(workflow_id, handle.cancel());
    return { workflow_id, cancel_requested: true as const };
  },
});

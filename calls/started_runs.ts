/** Runs that an operation has started: its answer says how they stand, after a wait where the caller wishes one. */
import { CallerGone, Problem } from "../contract/mod.ts";
import {
  type ErrorName,
  ERRORS,
  type StartedRun,
  TASK_QUEUE,
  type WorkflowName,
} from "../contract/domain/mod.ts";
import type { Context } from "./platform.ts";
import { type SharedRun, startRun } from "./recover/mod.ts";
import { awaitedApproval, followRun } from "./runs.ts";
import { mapTemporalErrors } from "./temporal_errors.ts";
import { type AwaitedApproval, describeAwaited } from "./waiting.ts";

/** A started run, as answers describe it. */
export interface RunStatus {
  readonly workflow_id: string;
  readonly run_id: string;
  readonly result_url: string;
  /** `RUNNING`: it had not ended when the answer was made. */
  readonly status: "RUNNING" | "COMPLETED" | "FAILED";
  /** Null: it has not ended, or has failed. */
  readonly result: Record<string, unknown> | null;
  readonly failure: string | null;
  /** The approval by people that it waits for; absent: none. */
  readonly waits_for?: AwaitedApproval;
}

/** A run to start. */
export interface RunOrder {
  readonly type: WorkflowName;
  readonly workflowId: string;
  /** Argument of the workflow. */
  readonly request: unknown;
  /** Shown in Temporal's Web UI, a few words. */
  readonly summary: string;
  /** The other parts of the call's output. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Longest wait for a run whose result is the answer, seconds; default 45. */
  readonly timeoutSeconds?: number;
}

/** Default of tools: less than MCP clients wait for an answer. */
const TOOL_WAIT_SECONDS = 25;
const RESULT_TIMEOUT_SECONDS = 45;

/**
 * Waits for a run that the call has started or joined, and returns how it stands then: where it waits for people, at once, and
 * for what. Others may wait for the run too, so it continues whatever becomes of the call.
 *
 * @param type of the run's workflow
 * @param waitSeconds longest to wait; undefined: the default of the caller's interface
 */
export async function followStartedRun(
  context: Context,
  type: WorkflowName,
  { workflowId, firstExecutionRunId }: SharedRun,
  waitSeconds: number | undefined,
): Promise<RunStatus> {
  const byDefault = context.door === "rest" ? 0 : TOOL_WAIT_SECONDS;
  const seconds = context.detached ? 0 : waitSeconds ?? byDefault;
  const client = await context.temporal();
  const handle = client.workflow.getHandle(workflowId, firstExecutionRunId);
  const signal = AbortSignal.any([context.signal, context.ending]);
  const end = await followRun({ ...context, signal }, client, handle, type, seconds);
  const asked = end ? undefined : await awaitedApproval(client, handle, type);
  const awaited = asked && await describeAwaited(context.store.db, asked);
  const failure = end && "failure" in end ? end.failure.message : null;
  const result = end && "result" in end ? end.result as Record<string, unknown> : null;
  return {
    workflow_id: workflowId,
    run_id: firstExecutionRunId,
    result_url: `${context.urls.gateway}/v1/workflows/${encodeURIComponent(workflowId)}/result`,
    status: !end ? "RUNNING" : failure ? "FAILED" : "COMPLETED",
    result,
    failure,
    ...(awaited ? { waits_for: awaited } : {}),
  };
}

/**
 * Starts a run that nobody else waits for, and follows it as {@linkcode followStartedRun} does. Where an agent cancels its
 * call, the run is cancelled too; where the agent has only lost its connection, the run ends by itself and is sealed.
 *
 * @throws {Problem} `Cancelled`
 */
export async function runAlone(
  context: Context,
  order: RunOrder,
  waitSeconds: number | undefined,
): Promise<RunStatus> {
  const handle = await start(context, order);
  const { workflowId } = handle;
  const status = await followStartedRun(context, order.type, handle, waitSeconds);
  const { door, signal } = context;
  const isCancelled = signal.aborted && !(signal.reason instanceof CallerGone);
  if (status.status !== "RUNNING" || door !== "mcp" || !isCancelled) return status;
  const cancelled = () =>
    new Problem("Cancelled", `The caller cancelled the call, so ${workflowId} was cancelled`);
  await mapTemporalErrors(handle.cancel(), cancelled);
  throw cancelled();
}

/**
 * Starts a run whose result is the answer, and waits for it. A caller who leaves cancels the run. A caller who follows the
 * run as a task is given the run's ids alone; the operation's `longRunning` then builds the output from the result.
 *
 * @throws {Problem} `Unavailable`: the run failed or took too long; `Cancelled`
 */
export async function runForResult<Result, Output>(
  context: Context,
  order: RunOrder,
  toOutput: (run: StartedRun, result: Result) => Output,
): Promise<Output> {
  const handle = await start(context, order);
  const run = { workflow_id: order.workflowId, run_id: handle.firstExecutionRunId };
  if (context.detached) return run as Output;
  const { timeoutSeconds = RESULT_TIMEOUT_SECONDS } = order;
  const client = await context.temporal();
  const signal = AbortSignal.any([context.signal, context.ending]);
  const end = await followRun({ ...context, signal }, client, handle, order.type, timeoutSeconds);
  if (end && "result" in end) return toOutput(run, end.result as Result);
  if (end) {
    const { type, message } = end.failure;
    throw new Problem(isErrorName(type) ? type : "Unavailable", `The run failed: ${message}`);
  }
  if (context.ending.aborted && !context.signal.aborted) {
    throw new Problem(
      "Unavailable",
      `This process stops, and ${order.workflowId} goes on; repeat the call`,
    );
  }
  await handle.cancel().catch(() => {});
  if (context.signal.aborted) throw new Problem("Cancelled", "The caller has cancelled the call");
  throw new Problem(
    "Unavailable",
    `${order.workflowId} was cancelled: it had no result within ${timeoutSeconds} s`,
  );
}

/** Returns whether a run has failed with a typed error, which says what its caller could do. */
function isErrorName(type: string): type is ErrorName {
  return Object.hasOwn(ERRORS, type);
}

async function start(context: Context, order: RunOrder) {
  const { type, workflowId, request, summary, given } = order;
  const { firstExecutionRunId } = await startRun(context, type, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId,
    workflowIdConflictPolicy: "FAIL",
    args: [request],
    staticSummary: summary,
  }, given);
  const { workflow } = await context.temporal();
  const handle = workflow.getHandle(workflowId, undefined, { firstExecutionRunId });
  return { ...handle, firstExecutionRunId };
}

/**
 * Finding what a call did whose process ended in the midst of it: what a call makes is named after the decision that let
 * it run, or noted under it, so that it can be looked for, and its absence proves that nothing was done.
 */
import { randomBytes } from "node:crypto";
import {
  type LongRunning,
  type LostCall,
  type Operation,
  Problem,
  type Recovery,
} from "../../contract/mod.ts";
import { type CallTrace, callTrace, leavesTraces, TRACES_KEPT_DAYS } from "../../store/mod.ts";
import { told } from "../temporal_errors.ts";
import type { Platform } from "../platform.ts";

/** Looks for what a call did. @throws {Problem} it can't be looked for at the moment */
export type TraceCall = (call: LostCall & { readonly operation: string }) => Promise<Recovery>;

/** What looking takes. */
export type Looking = Pick<Platform, "store" | "temporal" | "urls">;

/** A run that a call has started or joined. */
export interface TracedRun {
  readonly workflowId: string;
  readonly runId: string;
  /** As Temporal names it: RUNNING, COMPLETED, FAILED, … */
  readonly status: string;
}

/** Tells what a call did, by its run. */
export type TellOfRun = (on: Looking, run: TracedRun, call: LostCall) => Promise<Recovery>;

/** Temporal forgets runs that have ended; what is older may only be forgotten. */
const REMEMBERED_MS = 12 * 60 * 60_000;
/** A day before notes are removed. */
const NOTED_MS = (TRACES_KEPT_DAYS - 1) * 24 * 60 * 60_000;

/** Gives what looks for calls of these operations. */
export function createTraceCall(
  platform: Platform,
  operations: readonly Operation<Platform>[],
): TraceCall {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  return async ({ operation, ...call }) => {
    const found = await byName.get(operation)?.recover?.(call, platform);
    const isLost = !found ||
      found.state === "not_done" && !await leavesTraces(platform.store.asPlatform(), call.decisionId);
    return isLost ? { state: "unknown" } : found;
  };
}

/** Hex characters that a call's own things are named by: those of its decision, where there was one. */
export function nameOfCall(decisionId: string | undefined, length: 8 | 12): string {
  return decisionId?.slice("GOV-".length, "GOV-".length + length) ??
    randomBytes(length / 2).toString("hex");
}

/** Of calls that change nothing, so that whatever became of them nothing is there. */
export const nothingDone = (): Promise<Recovery> => Promise.resolve({ state: "not_done" });

/** What was noted in the same transaction as what the call did. @param outputOf the operation's output, by that */
export async function traceNoted(
  { store }: Pick<Platform, "store">,
  call: LostCall,
  outputOf: (noted: CallTrace) => unknown,
): Promise<Recovery> {
  const noted = await callTrace(store.asPlatform(), call.decisionId);
  if (!noted) return unnoted(call);
  return { state: "done", ids: noted.ids, output: await outputOf(noted) };
}

/** Where there is no note nothing was begun, as long as notes are kept. */
export function unnoted({ since }: LostCall): Recovery {
  return { state: isWithin(since, NOTED_MS) ? "not_done" : "unknown" };
}

/** A run that was named after the call. @param tell what the call did; left out: as of operations that start runs */
export async function traceRun(
  on: Looking,
  workflowId: string,
  call: LostCall,
  tell: TellOfRun = tellStarted,
): Promise<Recovery> {
  const missing = new Problem("NotFound", `There is no workflow ${workflowId}`);
  const handle = (await on.temporal()).workflow.getHandle(workflowId);
  try {
    const { runId, status } = await told(handle.describe(), () => missing);
    return await tell(on, { workflowId, runId, status: status.name }, call);
  } catch (error) {
    if (error !== missing) throw error;
    return noRun(workflowId, call);
  }
}

/** What it means that there is no run that the call has made. */
export function noRun(workflowId: string, { since }: LostCall): Recovery {
  return isWithin(since, REMEMBERED_MS)
    ? { state: "not_done" }
    : { state: "unknown", look: `for the workflow ${workflowId}` };
}

const isWithin = (since: Date, ms: number) => Date.now() - since.getTime() <= ms;
const idsOf = ({ workflowId, runId }: TracedRun) => ({ workflow_id: workflowId, run_id: runId });

/** Of an operation that gives a run that was started, with its end where that is known. */
export const tellStarted: TellOfRun = async ({ temporal, urls }, run) => {
  const { workflowId, runId, status } = run;
  const completed = status === "COMPLETED";
  const handle = (await temporal()).workflow.getHandle(workflowId, runId);
  return {
    state: "done",
    ids: idsOf(run),
    output: {
      ...idsOf(run),
      result_url: `${urls.gateway}/v1/workflows/${encodeURIComponent(workflowId)}/result`,
      status: completed || status === "RUNNING" ? status : "FAILED",
      result: completed ? await told(handle.result()) ?? null : null,
      failure: completed || status === "RUNNING" ? null : `The run ended as ${status}`,
    },
  };
};

/** Of an operation that gives nothing but the run that it has started. */
export const tellBegun: TellOfRun = (_, run) =>
  Promise.resolve({ state: "done", ids: idsOf(run), output: idsOf(run) });

/** Of an operation that gives what came out of its run: where that is awaited, its end is waited for. */
export function tellOutcome(outcome: LongRunning["outcome"]): TellOfRun {
  return async ({ temporal }, run, { awaited }) => {
    const { workflowId, runId, status } = run;
    const ids = idsOf(run);
    if (status === "RUNNING") {
      if (awaited) throw new Problem("Unavailable", `${workflowId} has not ended yet`);
      return { state: "done", ids, output: ids };
    }
    if (status !== "COMPLETED") {
      const error = { name: "Unavailable", message: `The run ended as ${status}` };
      return { state: "failed", ids, error };
    }
    const result = await told((await temporal()).workflow.getHandle(workflowId, runId).result());
    return { state: "done", ids, output: outcome(ids, result) };
  };
}

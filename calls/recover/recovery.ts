/**
 * Finding what a call did whose process ended in the middle of it. What a call makes is named after the decision that
 * allowed it, or noted under it, so that it can be looked for, and its absence proves that nothing was done.
 */
import { randomBytes } from "node:crypto";
import { type LongRunning, type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import { CALL_EFFECTS_DAYS, type CallEffects, getCallEffects } from "../../store/calls/mod.ts";
import type { Platform } from "../platform.ts";
import { mapTemporalErrors } from "../temporal_errors.ts";

/** The parts that recovery needs. */
export type RecoveryParts = Pick<Platform, "store" | "temporal" | "urls">;

/** A run that a call has started or joined. */
export interface CallRun {
  readonly workflowId: string;
  readonly runId: string;
  /** Temporal's name of it: RUNNING, COMPLETED, FAILED, … */
  readonly status: string;
}

/** Tells by its run what a call did. */
export type RecoverByRun = (
  parts: RecoveryParts,
  run: CallRun,
  call: LostCall,
) => Promise<Recovery>;

/** Temporal forgets runs that have ended; an older one that is missing may only be forgotten. */
const RUNS_KEPT_MS = 12 * 60 * 60_000;
/** A day before notes are removed. */
const NOTES_KEPT_MS = (CALL_EFFECTS_DAYS - 1) * 24 * 60 * 60_000;

/** Finds what a lost call did. @throws {Problem} that can't be found out at the moment */
export async function recoverCall(
  platform: Platform,
  { operation, ...call }: LostCall & { readonly operation: string },
): Promise<Recovery> {
  return await platform.operations.get(operation)?.durability?.recover?.(call, platform) ??
    { state: "unknown" };
}

/** Returns hex characters that a call's own things are named by: those of its decision, where there was one. */
export function idOfCall(decisionId: string | undefined, length: 8 | 12): string {
  return decisionId?.slice("GOV-".length, "GOV-".length + length) ??
    randomBytes(length / 2).toString("hex");
}

/** Recovery of calls that change nothing. */
export const recoverNothing = (): Promise<Recovery> => Promise.resolve({ state: "not_done" });

/** Recovers a call by the note that was made in the transaction of its change. */
export async function recoverNoted(
  { store }: Pick<Platform, "store">,
  call: LostCall,
  outputOf: (effect: CallEffects) => unknown,
): Promise<Recovery> {
  const effect = await getCallEffects(store.db, call.decisionId);
  if (!effect) return notNoted(call);
  return { state: "done", ids: effect.ids, output: await outputOf(effect) };
}

/** Returns what it means that a call has no note: nothing was begun, as long as notes are kept. */
export function notNoted({ since }: LostCall): Recovery {
  return { state: isWithin(since, NOTES_KEPT_MS) ? "not_done" : "unknown" };
}

/** Recovers a call by the run that was named after it. @param recover default: of operations that start runs */
export async function recoverRun(
  parts: RecoveryParts,
  workflowId: string,
  call: LostCall,
  recover: RecoverByRun = recoverStarted,
): Promise<Recovery> {
  const missing = new Problem("NotFound", `There is no workflow ${workflowId}`);
  const handle = (await parts.temporal()).workflow.getHandle(workflowId);
  try {
    const { runId, status } = await mapTemporalErrors(handle.describe(), () => missing);
    return await recover(parts, { workflowId, runId, status: status.name }, call);
  } catch (error) {
    if (error !== missing) throw error;
    return noRun(workflowId, call);
  }
}

/** A record that a call has stored, and the run that works on it. */
export interface RecordedRun {
  readonly workflowId: string;
  /** Ids of the record. */
  readonly ids: Readonly<Record<string, string>>;
  readonly output: object;
  /** Removes the record, whose run was never begun. */
  drop(): Promise<unknown>;
}

/** Recovers a call that stores a record and starts its run. A record without a run goes. */
export async function recoverRecord(
  parts: RecoveryParts,
  call: LostCall,
  { workflowId, ids, output, drop }: RecordedRun,
): Promise<Recovery> {
  const recovery = await recoverRun(parts, workflowId, call, recoverBegun);
  if (recovery.state === "not_done") await drop();
  if (recovery.state !== "done") return recovery;
  const { run_id } = recovery.ids;
  return { state: "done", ids: { ...ids, ...recovery.ids }, output: { ...output, run_id } };
}

/** Returns what it means that a call's run is missing. */
export function noRun(workflowId: string, { since }: LostCall): Recovery {
  return isWithin(since, RUNS_KEPT_MS)
    ? { state: "not_done" }
    : { state: "unknown", look: `for the workflow ${workflowId}` };
}

const isWithin = (since: Date, ms: number) => Date.now() - since.getTime() <= ms;
const idsOf = ({ workflowId, runId }: CallRun) => ({ workflow_id: workflowId, run_id: runId });

/** Recovers a call that gives a started run, with its end where that is known. */
export const recoverStarted: RecoverByRun = async ({ temporal, urls }, run) => {
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
      result: completed ? await mapTemporalErrors(handle.result()) ?? null : null,
      failure: completed || status === "RUNNING" ? null : `The run ended as ${status}`,
    },
  };
};

/** Recovers a call that gives nothing but the run that it has started. */
export const recoverBegun: RecoverByRun = (_, run) =>
  Promise.resolve({ state: "done", ids: idsOf(run), output: idsOf(run) });

/** Returns the recovery of a call that gives the result of its run; where a caller waits, the run's end is awaited. */
export function recoverOutcome(outcome: LongRunning["outcome"]): RecoverByRun {
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
    const handle = (await temporal()).workflow.getHandle(workflowId, runId);
    return { state: "done", ids, output: outcome(ids, await mapTemporalErrors(handle.result())) };
  };
}

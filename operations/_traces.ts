/**
 * Finding what a call did whose process ended in the midst of it: what a call makes is named after the decision that let
 * it run, so that it can be looked for, and its absence proves that nothing was done.
 */
import { randomBytes } from "node:crypto";
import { type LostCall, type Operation, Problem, type Trace } from "../contract/mod.ts";
import { told } from "./_temporal.ts";
import type { Platform } from "./platform.ts";

/** Looks for what a call did. @throws {Problem} it can't be looked for at the moment */
export type TraceCall = (call: LostCall & { readonly operation: string }) => Promise<Trace>;

/** Temporal forgets runs that have ended; what is older may only be forgotten. */
const REMEMBERED_MS = 12 * 60 * 60_000;
/** By how much the clocks of the database and of Temporal may differ. */
const CLOCKS_MS = 60_000;
/** Most runs of the loop that are looked through. */
const MOST_RUNS = 1_000;
/** Name in the memo of a run that others may join, which so can't be named after a call. */
export const STARTED_BY = "decision_id";

/** Gives what looks for calls of these operations. */
export function createTraceCall(
  platform: Platform,
  operations: readonly Operation<Platform>[],
): TraceCall {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  return async ({ operation, ...call }) =>
    await byName.get(operation)?.trace?.(call, platform) ?? { state: "unknown" };
}

/** Hex characters that a call's own things are named by: those of its decision, where there was one. */
export function nameOfCall(decisionId: string | undefined, length: 8 | 12): string {
  return decisionId?.slice("GOV-".length, "GOV-".length + length) ??
    randomBytes(length / 2).toString("hex");
}

/** A run that was named after the call. */
export async function traceRun(
  platform: Pick<Platform, "temporal" | "urls">,
  workflowId: string,
  { since }: Pick<LostCall, "since">,
): Promise<Trace> {
  const missing = new Problem("NotFound", `There is no workflow ${workflowId}`);
  const handle = (await platform.temporal()).workflow.getHandle(workflowId);
  try {
    const { runId, status } = await told(handle.describe(), () => missing);
    return {
      state: "done",
      ids: { workflow_id: workflowId, run_id: runId },
      output: await given(platform, { workflowId, runId, status: status.name }),
    };
  } catch (error) {
    if (error !== missing) throw error;
    const forgotten = Date.now() - since.getTime() > REMEMBERED_MS;
    return forgotten
      ? { state: "unknown", look: `for the workflow ${workflowId}` }
      : { state: "not_done" };
  }
}

/** A run that others may have started: one whose memo names the call is proven, and where there is none it may be joined. */
export async function traceSharedRun(
  platform: Pick<Platform, "temporal" | "urls">,
  type: string,
  { decisionId, since }: LostCall,
): Promise<Trace> {
  const client = await platform.temporal();
  const from = new Date(since.getTime() - CLOCKS_MS).toISOString();
  const query = `WorkflowType = '${type}' AND StartTime >= '${from}'`;
  let looked = 0;
  for await (const { workflowId, runId, memo, status } of client.workflow.list({ query })) {
    if (memo?.[STARTED_BY] === decisionId) {
      return {
        state: "done",
        ids: { workflow_id: workflowId, run_id: runId },
        output: await given(platform, { workflowId, runId, status: status.name }),
      };
    }
    if (++looked === MOST_RUNS) break;
  }
  const when = since.toISOString();
  return {
    state: "unknown",
    look: `at the runs of ${type} that went on at ${when} or began later`,
  };
}

/** What the call would have given, without waiting for the end. */
async function given(
  { temporal, urls }: Pick<Platform, "temporal" | "urls">,
  { workflowId, runId, status }: {
    readonly workflowId: string;
    readonly runId: string;
    readonly status: string;
  },
) {
  const completed = status === "COMPLETED";
  const handle = (await temporal()).workflow.getHandle(workflowId, runId);
  return {
    workflow_id: workflowId,
    run_id: runId,
    result_url: `${urls.gateway}/v1/workflows/${encodeURIComponent(workflowId)}/result`,
    status: completed || status === "RUNNING" ? status : "FAILED",
    result: completed ? await told(handle.result()) ?? null : null,
    failure: completed || status === "RUNNING" ? null : `The run ended as ${status}`,
  };
}

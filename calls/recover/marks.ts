/** Runs that a call shares with others: that it has started or joined one stands in the history of that run. */
import type { Client, WorkflowHandle } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import { callTrace, noteCall } from "../../store/mod.ts";
import { told } from "../temporal_errors.ts";
import {
  type Looking,
  noRun,
  type TellOfRun,
  tellStarted,
  type TracedRun,
  unnoted,
} from "./traces.ts";
import type { Context, Platform } from "../platform.ts";

/** Name in the memo of a run, of the decision that let it be started. */
export const STARTED_BY = "decision_id";
/** Signal that nothing waits for: its decision stands in the history of the run that a call has started or joined. */
export const ASKED_FOR_BY = "asked_for_by";
/** By how much the clocks of the database and of Temporal may differ. */
const CLOCKS_MS = 60_000;
/** Most runs of one workflow that are looked through. */
const MOST_RUNS = 200;

/** A run as {@linkcode startOrJoin} gives it. */
export interface SharedRun {
  readonly workflowId: string;
  /** Of the run that was started or joined. */
  readonly firstExecutionRunId: string;
}

/**
 * Starts a run, or joins the one that goes on under the same id; either way by one request, and with the call's mark.
 *
 * @param given what else the call gives, kept until it has ended
 */
export async function startOrJoin(
  { temporal, store, decisionId }: Pick<Context, "temporal" | "store" | "decisionId">,
  type: string,
  options: Parameters<Client["workflow"]["start"]>[1],
  given?: Readonly<Record<string, unknown>>,
): Promise<SharedRun> {
  const { workflow } = await temporal();
  const { workflowId } = options;
  const shared = { ...options, workflowIdConflictPolicy: "USE_EXISTING" } as const;
  if (decisionId === undefined) {
    const { firstExecutionRunId } = await told(workflow.start(type, shared));
    return { workflowId, firstExecutionRunId };
  }
  await noteCall(store.asPlatform(), decisionId, { workflow_id: workflowId }, given);
  const marked = { ...shared, signal: ASKED_FOR_BY, signalArgs: [decisionId] };
  const { signaledRunId } = await told(workflow.signalWithStart(type, marked));
  return { workflowId, firstExecutionRunId: signaledRunId };
}

/** The run that bears the call's mark. @param tell as in {@linkcode traceRun} */
export async function traceMarked(
  on: Looking,
  call: LostCall,
  tell: TellOfRun = tellStarted,
): Promise<Recovery> {
  const noted = await callTrace(on.store.asPlatform(), call.decisionId);
  if (!noted) return unnoted(call);
  const workflowId = noted.ids.workflow_id!;
  const run = await markedRun(on, workflowId, call);
  if (!run) return noRun(workflowId, call);
  const found = await tell(on, run, call);
  if (found.state !== "done" || !noted.given) return found;
  return { ...found, output: { ...found.output as object, ...noted.given } };
}

/** The run of a workflow that a call has started, joined, or asked to end; undefined: none that is remembered. */
export async function markedRun(
  { temporal }: Pick<Platform, "temporal">,
  workflowId: string,
  { decisionId, since }: LostCall,
): Promise<TracedRun | undefined> {
  const client = await temporal();
  for (const run of await runsSince(client, workflowId, since)) {
    const handle = client.workflow.getHandle(workflowId, run.runId);
    if (await isMarked(handle, decisionId)) return run;
  }
  return undefined;
}

/** The runs of a workflow that went on then or began later. @throws {Problem} they can't be told at the moment */
async function runsSince(client: Client, workflowId: string, since: Date): Promise<TracedRun[]> {
  const missing = new Problem("NotFound", `There is no workflow ${workflowId}`);
  const describe = client.workflow.getHandle(workflowId).describe();
  const latest = await told(describe, () => missing).catch((error) => {
    if (error !== missing) throw error;
    return undefined;
  });
  if (!latest) return [];
  const from = since.getTime() - CLOCKS_MS;
  const { runId, status } = latest;
  if (latest.startTime.getTime() < from) return [{ workflowId, runId, status: status.name }];
  const runs: TracedRun[] = [];
  const query = `WorkflowId = ${JSON.stringify(workflowId)}`;
  for await (const one of client.workflow.list({ query, pageSize: MOST_RUNS })) {
    if (one.closeTime && one.closeTime.getTime() < from) continue;
    runs.push({ workflowId, runId: one.runId, status: one.status.name });
    if (runs.length === MOST_RUNS) break;
  }
  // What is told of one run is true at once, a list only after a moment.
  if (runs.some((one) => one.runId === runId)) return runs;
  throw new Problem("Unavailable", `The list of the runs of ${workflowId} is not up to date yet`);
}

/** Whether a run's history says that this decision let it be started, joined or asked to end. */
async function isMarked(handle: WorkflowHandle, decisionId: string): Promise<boolean> {
  const { events } = await told(handle.fetchHistory());
  return (events ?? []).some((event) => {
    const started = event.workflowExecutionStartedEventAttributes;
    const signaled = event.workflowExecutionSignaledEventAttributes;
    const canceled = event.workflowExecutionCancelRequestedEventAttributes;
    const memo = started?.memo?.fields?.[STARTED_BY];
    if (memo) return defaultPayloadConverter.fromPayload(memo) === decisionId;
    const [said] = signaled?.input?.payloads ?? [];
    if (signaled?.signalName === ASKED_FOR_BY && said) {
      return defaultPayloadConverter.fromPayload(said) === decisionId;
    }
    return canceled?.cause === decisionId;
  });
}

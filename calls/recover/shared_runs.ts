/** Runs that several calls share: the history of such a run says which calls have started or joined it. */
import type { Client, WorkflowHandle } from "@temporalio/client";
import type { SearchAttributePair } from "@temporalio/common";
import { type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import { tenantAttribute } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { readEnvelope, readValue } from "../../runtime/temporal/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/calls/mod.ts";
import type { Context, Platform } from "../platform.ts";
import { mapTemporalErrors } from "../temporal_errors.ts";
import {
  type CallRun,
  noRun,
  notNoted,
  type RecoverByRun,
  recoverStarted,
  type RecoveryParts,
} from "./recovery.ts";

/** Name, in the memo of a run, of the decision that allowed its start. */
export const STARTED_BY = "decision_id";
/** Signal that carries the decision of a call which has started or joined a run; no workflow waits for it. */
const REQUESTED_BY = "asked_for_by";
/** Largest difference between the clocks of the database and of Temporal. */
const CLOCK_SKEW_MS = 60_000;
/** Most runs of one workflow that are looked through. */
const MAX_RUNS = 200;

/** The run that {@linkcode startOrJoin} has started or joined. */
export interface SharedRun {
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
}

/**
 * Starts a run, or joins the one that is open under the same id; either way by one request, which marks the run with the
 * call's decision.
 *
 * @param given the other parts of the call's output, kept until it has ended
 */
export async function startOrJoin(
  { temporal, store, decisionId }: Pick<Context, "temporal" | "store" | "decisionId">,
  type: string,
  options: Parameters<Client["workflow"]["start"]>[1],
  given?: Readonly<Record<string, unknown>>,
): Promise<SharedRun> {
  const { workflow } = await temporal();
  const { workflowId } = options;
  const attributes = options.typedSearchAttributes as SearchAttributePair[] | undefined ?? [];
  const shared = {
    ...options,
    typedSearchAttributes: [...attributes, tenantAttribute(store.tenant)],
    workflowIdConflictPolicy: "USE_EXISTING" as const,
  };
  if (decisionId === undefined) {
    const { firstExecutionRunId } = await mapTemporalErrors(workflow.start(type, shared));
    return { workflowId, firstExecutionRunId };
  }
  await noteCallEffects(store.db, decisionId, { workflow_id: workflowId }, given);
  const marked = { ...shared, signal: REQUESTED_BY, signalArgs: [decisionId] };
  const { signaledRunId } = await mapTemporalErrors(workflow.signalWithStart(type, marked));
  return { workflowId, firstExecutionRunId: signaledRunId };
}

/** Recovers a call by the run that bears its mark. @param recover as in {@linkcode recoverRun} */
export async function recoverMarked(
  parts: RecoveryParts,
  call: LostCall,
  recover: RecoverByRun = recoverStarted,
): Promise<Recovery> {
  const effect = await getCallEffects(parts.store.db, call.decisionId);
  if (!effect) return notNoted(call);
  const workflowId = effect.ids.workflow_id!;
  const run = await findMarkedRun(parts, workflowId, call);
  if (!run) return noRun(workflowId, call);
  const recovery = await recover(parts, run, call);
  if (recovery.state !== "done" || !effect.output) return recovery;
  return { ...recovery, output: { ...recovery.output as object, ...effect.output } };
}

/** Finds the run of a workflow that a call has started, joined, or asked to end; undefined: Temporal remembers none. */
export async function findMarkedRun(
  { temporal, store }: Pick<Platform, "temporal" | "store">,
  workflowId: string,
  { decisionId, since }: LostCall,
): Promise<CallRun | undefined> {
  const client = await temporal();
  for (const run of await runsSince(client, workflowId, since)) {
    const handle = client.workflow.getHandle(workflowId, run.runId);
    if (await isMarked(store, handle, decisionId)) return run;
  }
  return undefined;
}

/** Returns the runs of a workflow that were open then or began later. @throws {Problem} `Unavailable` */
async function runsSince(client: Client, workflowId: string, since: Date): Promise<CallRun[]> {
  const missing = new Problem("NotFound", `There is no workflow ${workflowId}`);
  const describe = client.workflow.getHandle(workflowId).describe();
  const latest = await mapTemporalErrors(describe, () => missing).catch((error) => {
    if (error !== missing) throw error;
    return undefined;
  });
  if (!latest) return [];
  const from = since.getTime() - CLOCK_SKEW_MS;
  const { runId, status } = latest;
  if (latest.startTime.getTime() < from) return [{ workflowId, runId, status: status.name }];
  const runs: CallRun[] = [];
  const query = `WorkflowId = ${JSON.stringify(workflowId)}`;
  for await (const run of client.workflow.list({ query, pageSize: MAX_RUNS })) {
    if (run.closeTime && run.closeTime.getTime() < from) continue;
    runs.push({ workflowId, runId: run.runId, status: run.status.name });
    if (runs.length === MAX_RUNS) break;
  }
  // Describing a run is consistent at once, listing only after a moment.
  if (runs.some((run) => run.runId === runId)) return runs;
  throw new Problem("Unavailable", `The list of the runs of ${workflowId} is not up to date yet`);
}

/** Returns whether a run's history names the decision by which it was started, joined or cancelled. */
async function isMarked(
  store: Store,
  handle: WorkflowHandle,
  decisionId: string,
): Promise<boolean> {
  const { events } = await mapTemporalErrors(handle.fetchHistory());
  for (const event of events ?? []) {
    const started = event.workflowExecutionStartedEventAttributes;
    const signaled = event.workflowExecutionSignaledEventAttributes;
    const canceled = event.workflowExecutionCancelRequestedEventAttributes;
    const memo = started?.memo?.fields?.[STARTED_BY];
    if (memo && await readValue(store, handle.workflowId, memo) === decisionId) return true;
    if (signaled?.signalName === REQUESTED_BY) {
      const mark = await readEnvelope(store, signaled.input?.payloads?.[0]);
      const isHere = mark?.name === REQUESTED_BY && mark.of === handle.workflowId;
      if (isHere && mark.args[0] === decisionId) return true;
    }
    if (canceled?.cause === decisionId) return true;
  }
  return false;
}

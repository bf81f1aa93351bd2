/**
 * Runs that calls start or join. Before it asks Temporal, a call notes the workflow under its decision, which is also the id
 * of its request. Temporal tells of a run by whose requests it was started or joined, so that one look at the run says
 * whether the call got that far.
 */
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import type { SearchAttributePair } from "@temporalio/common";
import { type Durability, type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import { tenantAttribute } from "../../contract/domain/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/calls/mod.ts";
import type { Context, Platform } from "../platform.ts";
import { mapTemporalErrors } from "../temporal_errors.ts";
import { notNoted, type RecoveryParts } from "./notes.ts";

/** Temporal forgets runs that have ended; an older one that is missing may only be forgotten. */
const RUNS_KEPT_MS = 12 * 60 * 60_000;
/** Largest difference between the clocks of the database and of Temporal. */
const CLOCK_SKEW_MS = 60_000;
/** Most runs of one workflow that are looked through. */
const MAX_RUNS = 200;
/** By this the SDK's own Nexus helpers set the id of a request, for which there is no public option. */
const REQUEST = Symbol.for("__temporal_internal_client_workflow_start_options");

/** The options of a start, but for its tenant. */
export type StartOptions = Parameters<Client["workflow"]["start"]>[1];

/** The run that a call has started or joined. */
export interface SharedRun {
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
}

/** The parts of an operation that are about the run which its calls start. */
type StartsRun = Pick<Durability<RecoveryParts>, "startsRun" | "dropUnstarted" | "longRunning">;

/** A run as Temporal describes it. */
interface DescribedRun {
  readonly runId: string;
  /** RUNNING, COMPLETED, FAILED, … */
  readonly status: string;
}

type StartParts = Pick<Context, "temporal" | "store" | "decisionId">;

/**
 * Starts a run, or joins the one that is open under the same id, and notes that before.
 *
 * @param given the other parts of the call's output, kept until it has ended
 */
export async function startRun(
  parts: StartParts & Pick<Context, "caller">,
  type: string,
  options: StartOptions,
  given?: Readonly<Record<string, unknown>>,
): Promise<SharedRun> {
  await parts.temporal(); // before anything is noted: it may be away
  const { store, caller, decisionId } = parts;
  if (decisionId !== undefined) {
    const own = store.asTenant(caller.tenant); // a key of tier admin may act for another one
    await noteCallEffects(own, decisionId, { workflow_id: options.workflowId }, given);
  }
  return await startNotedRun(parts, type, options);
}

/** The same, of a run that is noted already: in the transaction that stores what it works on. */
export async function startNotedRun(
  { temporal, store, decisionId }: StartParts,
  type: string,
  options: StartOptions,
): Promise<SharedRun> {
  const { workflow } = await temporal();
  const { workflowId } = options;
  const attributes = options.typedSearchAttributes as SearchAttributePair[] | undefined ?? [];
  const requestId = decisionId;
  const { firstExecutionRunId } = await mapTemporalErrors(workflow.start(type, {
    workflowIdConflictPolicy: "USE_EXISTING",
    ...options,
    typedSearchAttributes: [...attributes, tenantAttribute(store.tenant)],
    [REQUEST]: requestId && { requestId, onConflictOptions: { attachRequestId: true } },
  } as StartOptions));
  return { workflowId, firstExecutionRunId };
}

/** Starts the one run of a thing that is stored and noted, unless it was started before. @returns the run's id */
export async function startOnce(
  parts: StartParts,
  type: string,
  options: StartOptions,
): Promise<string> {
  try {
    const once = { ...options, workflowIdReusePolicy: "REJECT_DUPLICATE" as const };
    return (await startNotedRun(parts, type, once)).firstExecutionRunId;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { workflow } = await parts.temporal();
    return (await mapTemporalErrors(workflow.getHandle(options.workflowId).describe())).runId;
  }
}

/** Recovers a call that starts a run, by its note and one look at that run. */
export async function recoverRun(
  parts: RecoveryParts,
  call: LostCall,
  { startsRun, longRunning, dropUnstarted }: StartsRun,
): Promise<Recovery> {
  const effect = await getCallEffects(parts.store.db, call.decisionId);
  if (!effect) return notNoted(call);
  const workflowId = effect.ids.workflow_id!;
  const run = await findRequestedRun(parts, workflowId, call);
  if (!run) {
    const missing = noRun(workflowId, call);
    if (missing.state === "not_done") await dropUnstarted?.(effect.ids, parts);
    return missing;
  }
  const ids = { workflow_id: workflowId, run_id: run.runId };
  const all = { ...effect.ids, ...ids };
  if (startsRun === "result") {
    if (run.status === "RUNNING" && call.awaited) {
      throw new Problem("Unavailable", `${workflowId} has not ended yet`);
    }
    if (run.status !== "RUNNING" && run.status !== "COMPLETED") {
      const message = `The run ended as ${run.status}`;
      return { state: "failed", ids: all, error: { name: "Unavailable", message } };
    }
  }
  const told = await answerOf(parts, run, ids, { startsRun, longRunning });
  return { state: "done", ids: all, output: { ...told, ...effect.output } };
}

/** Returns what a call tells of its run. */
async function answerOf(
  { temporal, urls }: RecoveryParts,
  { status }: DescribedRun,
  ids: { readonly workflow_id: string; readonly run_id: string },
  { startsRun, longRunning }: StartsRun,
): Promise<object> {
  if (startsRun === "ids" || startsRun === "result" && status === "RUNNING") return ids;
  const { workflow_id, run_id } = ids;
  const completed = status === "COMPLETED";
  const handle = (await temporal()).workflow.getHandle(workflow_id, run_id);
  const result = completed ? await mapTemporalErrors(handle.result()) : undefined;
  if (startsRun === "result") return longRunning!.outcome(ids, result) as object;
  return {
    ...ids,
    result_url: `${urls.gateway}/v1/workflows/${encodeURIComponent(workflow_id)}/result`,
    status: completed || status === "RUNNING" ? status : "FAILED",
    result: result ?? null,
    failure: completed || status === "RUNNING" ? null : `The run ended as ${status}`,
  };
}

/** Returns what it means that a call's run is missing. */
export function noRun(workflowId: string, { since }: LostCall): Recovery {
  return Date.now() - since.getTime() <= RUNS_KEPT_MS
    ? { state: "not_done" }
    : { state: "unknown", look: `for the workflow ${workflowId}` };
}

/**
 * Finds the run of a workflow that a call has started or joined; undefined: none. It is the latest one, unless the workflow
 * was started anew since.
 *
 * @throws {Problem} `Unavailable`
 */
export async function findRequestedRun(
  { temporal }: Pick<Platform, "temporal">,
  workflowId: string,
  { decisionId, since }: LostCall,
): Promise<DescribedRun | undefined> {
  const client = await temporal();
  const from = since.getTime() - CLOCK_SKEW_MS;
  const latest = await describe(client, workflowId);
  if (!latest || latest.requests.has(decisionId)) return latest;
  if (latest.startedMs < from) return undefined; // no other one can have begun since
  const query = `WorkflowId = ${JSON.stringify(workflowId)}`;
  let [seen, isListed] = [0, false];
  for await (const { runId, closeTime } of client.workflow.list({ query, pageSize: MAX_RUNS })) {
    isListed ||= runId === latest.runId;
    if (closeTime && closeTime.getTime() < from || ++seen > MAX_RUNS) break; // the newest are first
    const run = await describe(client, workflowId, runId);
    if (run?.requests.has(decisionId)) return run;
  }
  if (isListed) return undefined;
  // Describing a run is consistent at once, listing only after a moment.
  throw new Problem("Unavailable", `The list of the runs of ${workflowId} is not up to date yet`);
}

async function describe(client: Client, workflowId: string, runId?: string) {
  const missing = new Problem("NotFound", `There is no workflow ${workflowId}`);
  const described = client.workflow.getHandle(workflowId, runId).describe();
  try {
    const { raw, startTime, status, ...run } = await mapTemporalErrors(described, () => missing);
    const requests = new Set(Object.keys(raw.workflowExtendedInfo?.requestIdInfos ?? {}));
    if (requests.size === 0) throw new Problem("Unavailable", "Temporal is older than 1.28");
    return { runId: run.runId, status: status.name, startedMs: startTime.getTime(), requests };
  } catch (error) {
    if (error === missing) return undefined;
    throw error;
  }
}

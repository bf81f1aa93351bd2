/** The one way in which a call acts in a system of the operator's: it is noted, and a workflow does it once. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type LostCall, Problem, type Recovery } from "../../../contract/mod.ts";
import {
  type ActOrder,
  type ActResult,
  type ActState,
  actWorkflowId,
  TASK_QUEUE,
  WORKFLOW,
} from "../../../contract/domain/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { getCallEffects, noteCallEffects } from "../../../store/calls/mod.ts";
import {
  findRequestedRun,
  idOfCall,
  noRun,
  type RecoveryParts,
  startNotedRun,
} from "../../../calls/recover/mod.ts";
import {
  type Context,
  decideAgain,
  isWorkersOwn,
  mapTemporalErrors,
  type Platform,
  type ServerCall,
} from "../../../calls/mod.ts";

const OutsideAct = z.discriminatedUnion("system", [
  z.object({
    system: z.literal("n8n"),
    /** Id of a workflow, and what its webhook gets. */
    workflow: z.string(),
    body: z.record(z.string(), z.unknown()),
  }),
  z.object({
    system: z.literal("fleet"),
    /** Ids of a host, and of a saved script. */
    host: z.number().int(),
    script: z.number().int(),
  }),
  z.object({
    system: z.literal("mastodon"),
    /** Id of an item of the pipeline, its text, and the server that people have approved it for. */
    item: z.string(),
    text: z.string(),
    server: z.string(),
  }),
]);

const Note = z.object({ act: OutsideAct, key_id: z.string().nullable() });

/** An act in a system of the operator's. */
export type OutsideAct = z.output<typeof OutsideAct>;

/** An act as its caller is told of it. */
export interface OrderedAct {
  readonly act_id: string;
  readonly workflow_id: string;
  readonly run_id: string;
  /** `begun`: its end is not known yet. */
  readonly state: ActState | "begun";
  readonly code?: string;
  readonly execution_id?: string;
  readonly receipt_id?: string;
}

/** Time that a call waits for the end of its act. The act goes on after it. */
const MAX_WAIT_MS = 5_000;
const POLL_MS = 200;

/** Describes an act: `n8n's workflow tqX81`. */
export function targetOf(act: OutsideAct): string {
  if (act.system === "n8n") return `n8n's workflow ${act.workflow}`;
  if (act.system === "mastodon") return `Mastodon's post of ${act.item}`;
  return `Fleet's script ${act.script} on host ${act.host}`;
}

/**
 * Notes an act that people have approved, for the workflow that does it once. Note it in the transaction that takes over the
 * approval.
 *
 * @param keyId of who asked for it, which has to be valid still
 */
export async function noteApprovedAct(
  trx: Db,
  approvalId: string,
  { act, keyId }: { readonly act: OutsideAct; readonly keyId: string | null },
): Promise<void> {
  const { act_id } = approvedActOrder(approvalId);
  await noteCallEffects(trx, approvalId, { act_id }, { act, key_id: keyId });
}

/** Returns the order of the one act that an approval allows. */
export function approvedActOrder(approvalId: string): ActOrder {
  return { act_id: approvalId.replace(/^APR-/, "ACT-"), decision_id: approvalId };
}

/** Has an act done, once, and waits a moment for its end. @throws {Problem} `Unavailable`: it can't be started now */
export async function orderAct(context: Context, act: OutsideAct): Promise<OrderedAct> {
  const { store, temporal, decisionId, signal } = context;
  if (decisionId === undefined) throw new Problem("Internal", "An act needs a decision");
  const order: ActOrder = { act_id: actIdOf(decisionId), decision_id: decisionId };
  const workflowId = actWorkflowId(order.act_id);
  await noteCallEffects(store.db, decisionId, { act_id: order.act_id }, {
    act,
    key_id: context.caller.keyId,
  });
  const { firstExecutionRunId: run_id } = await startNotedRun(context, WORKFLOW.outsideAct, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId,
    workflowIdConflictPolicy: "FAIL",
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    args: [order],
    staticSummary: `Does ${order.act_id} in ${act.system}`,
  });
  const ids = { workflow_id: workflowId, run_id };
  const handle = (await temporal()).workflow.getHandle(workflowId, run_id);
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end && !signal.aborted;) {
    await sleep(POLL_MS);
    const { status } = await mapTemporalErrors(handle.describe());
    if (status.name === "RUNNING") continue;
    return describeAct(order.act_id, ids, await mapTemporalErrors(handle.result()));
  }
  return describeAct(order.act_id, ids);
}

function describeAct(
  act_id: string,
  ids: { readonly workflow_id: string; readonly run_id: string },
  result?: ActResult,
): OrderedAct {
  const { state = "begun", code, execution_id, receipt_id } = result ?? {};
  return {
    act_id,
    ...ids,
    state,
    ...(code ? { code } : {}),
    ...(execution_id ? { execution_id } : {}),
    ...(receipt_id ? { receipt_id } : {}),
  };
}

function actIdOf(decisionId: string): string {
  return `ACT-${idOfCall(decisionId, 12)}`;
}

/** An act as it was noted. */
export interface NotedAct {
  readonly act: OutsideAct;
  /** Key that has ordered it. */
  readonly keyId: string | null;
  /** Milliseconds since then. */
  readonly ageMs: number;
  /** Database role of the process that noted it. */
  readonly storedBy: string;
  /** Decision about the call that has ordered it. */
  readonly decisionId: string;
}

/**
 * Returns the act of an order. It is read from the database, so that Temporal can't change it.
 *
 * @throws {Problem} `NotFound`
 */
export async function readOrderedAct(
  db: Db,
  { act_id, decision_id }: ActOrder,
): Promise<NotedAct> {
  const effects = await getCallEffects(db, decision_id);
  if (!effects || effects.ids.act_id !== act_id) {
    throw new Problem("NotFound", `No call has ordered ${act_id}`);
  }
  const { act, key_id } = Note.parse(effects.output);
  const { ageMs, storedBy } = effects;
  return { act, keyId: key_id, ageMs, storedBy, decisionId: decision_id };
}

/**
 * Returns whether a noted act may be done: the worker has noted it itself, after people had approved it; or a server has, and
 * the worker, which decides about its call again, finds that nobody need be asked.
 */
export async function isActPermitted(platform: Platform, noted: NotedAct): Promise<boolean> {
  if (isWorkersOwn(noted)) return true;
  const call = callOf(noted.act);
  if (!call) return false;
  try {
    return (await decideAgain(platform, { ...call, ...noted })).approvers === 0;
  } catch (error) {
    if (error instanceof Problem && error.rule.status < 500) return false;
    throw error;
  }
}

/** Returns the call that orders an act; undefined: none does, people approve it by itself. */
function callOf(act: OutsideAct): Pick<ServerCall, "operation" | "input"> | undefined {
  if (act.system === "mastodon") return undefined;
  return act.system === "n8n"
    ? {
      operation: "soar.trigger",
      input: { workflow_id: `n8n:${act.workflow}`, body: act.body },
    }
    : {
      operation: "devices.run_script",
      input: { agent_id: `fleet:${act.host}`, script_id: String(act.script) },
    };
}

/** Recovers a lost call that orders one act. @param outputOf as the call would have told it */
export async function recoverAct(
  parts: RecoveryParts,
  call: LostCall,
  outputOf: (ordered: OrderedAct, act: OutsideAct) => unknown,
): Promise<Recovery> {
  const act_id = actIdOf(call.decisionId);
  const workflow_id = actWorkflowId(act_id);
  const run = await findRequestedRun(parts, workflow_id, call);
  if (!run) return noRun(workflow_id, call);
  const ids = { workflow_id, run_id: run.runId };
  const handle = (await parts.temporal()).workflow.getHandle(workflow_id, run.runId);
  const result = run.status === "COMPLETED" ? await mapTemporalErrors(handle.result()) : undefined;
  const { act } = await readOrderedAct(parts.store.db, { act_id, decision_id: call.decisionId });
  return { state: "done", ids, output: outputOf(describeAct(act_id, ids, result), act) };
}

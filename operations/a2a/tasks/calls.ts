/** The calls of tools that A2A tasks stand for. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { WorkflowNotFoundError } from "@temporalio/client";
import { type LongRunning, Problem } from "../../../contract/mod.ts";
import {
  callChangedSignal,
  type HeldCallStatus,
  type RunState,
  type StartedRun,
  type TaskRecord,
} from "../../../contract/domain/mod.ts";
import { requestSeal } from "../../../ledger/mod.ts";
import {
  collectHeldCall,
  getApproval,
  getHeldCall,
  type HeldCall,
  withdrawHeldCall,
} from "../../../store/approvals/mod.ts";
import { taskWorkflowId } from "./begin.ts";
import { listTasksOfApproval } from "../../../store/a2a/mod.ts";
import { currentStep, mapTemporalErrors, type Platform } from "../../../calls/mod.ts";

const POLL_MS = 250;
/** Temporal's names of ends that are no failure. */
const END_STATES: Readonly<Record<string, RunState["state"]>> = {
  COMPLETED: "completed",
  CANCELLED: "canceled",
};

/** A run to wait for, and the step that it is known to be at; null: none. */
export interface RunWatch {
  readonly run: StartedRun;
  readonly step: string | null;
  /** Longest to wait for another step, ≥ 0. */
  readonly seconds: number;
}

/** A task without its result, and where that is found: in a run, or in the call that people have approved. */
export type ResultOrder =
  & { readonly task: TaskRecord; readonly skill: string }
  & ({ readonly run: StartedRun } | { readonly approval_id: string });

type Parts = Pick<Platform, "store" | "temporal" | "operations">;

/** Waits for another step of a run, or its end. */
export async function watchRun(
  { temporal }: Pick<Parts, "temporal">,
  { run, step, seconds }: RunWatch,
  signal: AbortSignal,
): Promise<RunState> {
  const client = await temporal();
  const handle = client.workflow.getHandle(run.workflow_id, run.run_id);
  const until = Date.now() + seconds * 1_000;
  while (true) {
    const description = await mapTemporalErrors(handle.describe()).catch((error) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
    if (!description) {
      return { state: "failed", step: null, failure: "it is not on record any more" };
    }
    const { status, type } = description;
    if (status.name !== "RUNNING") {
      const state = END_STATES[status.name] ?? "failed";
      if (state !== "failed") return { state, step: null };
      return { state, step: null, failure: await failureOf(handle.result()) };
    }
    const current = await currentStep(client, handle, type).catch(() => null);
    if (current !== null && current !== step || Date.now() >= until) {
      return { state: "running", step: current ?? step };
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Asks a run to end. @returns false where others may wait for it too */
export async function cancelRun(
  parts: Parts,
  { skill, run }: { readonly skill: string; readonly run: StartedRun },
): Promise<boolean> {
  if (longRunningOf(parts, skill)?.shared) return false;
  const { workflow } = await parts.temporal();
  const cancel = workflow.getHandle(run.workflow_id, run.run_id).cancel();
  await mapTemporalErrors(cancel).catch((error) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended meanwhile
  });
  return true;
}

/** Returns how a call stands that people are asked about. */
export async function heldCallStatus(parts: Parts, approvalId: string): Promise<HeldCallStatus> {
  const db = parts.store.db;
  const held = await existingHeldCall(parts, approvalId);
  if (!held.endedAt) {
    const { status } = (await getApproval(db, approvalId))!;
    return { state: status === "outdated" ? "expired" : status };
  }
  await collectHeldCall(db, held); // the same call is another one from now on
  if (held.state !== "done") {
    const state = held.state as "failed" | "refused" | "unknown";
    return { state, ...(held.error ? { error: held.error.message } : {}) };
  }
  const { run } = outputOf(parts, held);
  return { state: "done", ...(run ? { run } : {}) };
}

/** Withdraws a call that nobody has decided about. @returns false where it is too late, or other tasks wait for it */
export async function withdrawCall(
  parts: Parts,
  { approval_id, task_id }: { readonly approval_id: string; readonly task_id: string },
): Promise<boolean> {
  const { keyId } = await existingHeldCall(parts, approval_id);
  return await parts.store.db.transaction(async (trx) => {
    const tasks = await listTasksOfApproval(trx, keyId, approval_id);
    const held = (await getHeldCall(trx, approval_id))!;
    if (tasks.some((id) => id !== task_id)) return held.state === "waiting";
    const message = `${approval_id} is not run: its caller has canceled the task`;
    const error = { name: "Cancelled", message };
    const receiptId = randomBytes(8).toString("hex");
    if (!await withdrawHeldCall(trx, approval_id, { error, receiptId })) {
      return held.error?.name === "Cancelled"; // by an earlier attempt
    }
    await requestSeal(trx, {
      id: receiptId,
      category: "governed_act",
      actor: `key:${keyId}`,
      subject: held.tool,
      action: held.operation,
      outcome: "canceled",
      details: {
        approval_id: held.approvalId,
        decision_id: held.decisionId,
        action_commitment: held.actionCommitment,
      },
      evidence: { error: message },
    });
    return true;
  });
}

/** Returns a task with the result of its call. */
export async function withResult(
  parts: Parts,
  { task, skill, ...source }: ResultOrder,
): Promise<TaskRecord> {
  let output: unknown;
  let metadata = task.metadata;
  if (task.approval_id !== undefined) {
    const held = await existingHeldCall(parts, task.approval_id);
    output = outputOf(parts, held).output;
    metadata = { ...metadata, "sealoop/receipt_id": held.receiptId, receipt_id: held.receiptId };
  }
  if ("run" in source) {
    const { workflow_id, run_id } = source.run;
    const handle = (await parts.temporal()).workflow.getHandle(workflow_id, run_id);
    const result = await mapTemporalErrors(handle.result());
    output = longRunningOf(parts, skill)!.outcome(source.run, result);
  }
  const data = isObject(output) ? output : { result: output ?? null };
  const artifacts = task.artifacts.map((artifact) => ({ ...artifact, parts: [{ data }] }));
  return { ...task, artifacts, ...(metadata ? { metadata } : {}) };
}

/** Tells the tasks that wait for an approval that its state has changed. */
export async function notifyTasks(
  { store, temporal }: Pick<Parts, "store" | "temporal">,
  approvalId: string,
): Promise<void> {
  const db = store.db;
  const held = await getHeldCall(db, approvalId);
  if (!held) return;
  const { workflow } = await temporal();
  for (const id of await listTasksOfApproval(db, held.keyId, approvalId)) {
    await workflow.getHandle(taskWorkflowId(id)).signal(callChangedSignal).catch((error) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error; // it reads the state when it begins
    });
  }
}

async function existingHeldCall({ store }: Pick<Parts, "store">, id: string): Promise<HeldCall> {
  const held = await getHeldCall(store.db, id);
  if (held) return held;
  throw new Problem("NotFound", `There is no call that ${id} allows`);
}

function longRunningOf(
  { operations }: Pick<Parts, "operations">,
  skill: string,
): LongRunning | undefined {
  const isSkill = (tool: object | undefined) => tool && Object.hasOwn(tool, skill);
  return [...operations.values()].find(({ tool }) => isSkill(tool))?.durability?.longRunning;
}

/** Returns the output of an approved call, and the run that it has started and that is still open. */
function outputOf(parts: Parts, held: HeldCall): { output: unknown; run?: StartedRun } {
  const output = JSON.parse(held.output!);
  const isOpen = longRunningOf(parts, held.tool) && output?.workflow_id &&
    (output.status === undefined || output.status === "RUNNING");
  return isOpen ? { output, run: output } : { output };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function failureOf(result: Promise<unknown>): Promise<string> {
  const rootOf = (error: Error): Error =>
    error.cause instanceof Error ? rootOf(error.cause) : error;
  return await result.then(
    () => "it ended",
    (error) => error instanceof Error ? rootOf(error).message : String(error),
  );
}

import { cancellationSignal } from "@temporalio/activity";
import {
  cancelRun as cancel,
  heldCallStatus,
  type ResultOrder,
  type RunWatch,
  watchRun as watch,
  withdrawCall as withdraw,
  withResult,
} from "../operations/a2a/tasks/mod.ts";
import type { HeldCallStatus, RunState, StartedRun, TaskRecord } from "../contract/domain/mod.ts";
import type { ActivityParts } from "./parts.ts";
import { putTask } from "../store/a2a/mod.ts";

/** Creates the activities of A2A tasks. */
export function taskActivities(parts: ActivityParts) {
  const db = parts.store.db;

  /** Stores a task, and notifies those who follow it. Safe to repeat: a task's version is stored once. */
  async function storeTask(task: TaskRecord): Promise<void> {
    await putTask(db, task);
  }

  /** Stores a task with its result, which may be too large for a workflow. Safe to repeat, as above. */
  async function storeTaskResult(order: ResultOrder): Promise<void> {
    await putTask(db, await withResult(parts, order));
  }

  /** Waits for another step of a run, or its end. Safe to repeat: it only reads. */
  async function watchRun(order: RunWatch): Promise<RunState> {
    return await watch(parts, order, cancellationSignal());
  }

  /** Asks a run to end. Safe to repeat: so does the second request. @returns false if others may wait for it too */
  async function cancelRun(
    order: { readonly skill: string; readonly run: StartedRun },
  ): Promise<boolean> {
    return await cancel(parts, order);
  }

  /** Returns the state of a held call. Safe to repeat: it only reads, and marks an ended call as collected. */
  async function getHeldCallStatus(
    { approval_id }: { readonly approval_id: string },
  ): Promise<HeldCallStatus> {
    return await heldCallStatus(parts, approval_id);
  }

  /** Withdraws a held call. Safe to repeat: it is withdrawn once. @returns false if it is too late */
  async function withdrawCall(
    order: { readonly approval_id: string; readonly task_id: string },
  ): Promise<boolean> {
    return await withdraw(parts, order);
  }

  return { storeTask, storeTaskResult, watchRun, cancelRun, getHeldCallStatus, withdrawCall };
}

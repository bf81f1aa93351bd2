import { Context } from "@temporalio/activity";
import {
  cancelRun,
  heldCallStatus,
  type ResultOrder,
  type RunWatch,
  watchRun,
  withdrawCall,
  withResult,
} from "../calls/tasks/mod.ts";
import type { StartedRun, TaskRecord } from "../domain/mod.ts";
import { putTask } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Activities of A2A tasks. All are safe to repeat: a stored task has a version, and the others only read. */
export function tasks(parts: ActivityParts) {
  const db = parts.store.asPlatform();
  return {
    /** Stores a task as it is now, and notifies those who follow it. */
    showTask: (task: TaskRecord) => putTask(db, task),
    /** Stores a task with its result, which may be too large for a workflow. */
    showResult: async (order: ResultOrder) => putTask(db, await withResult(parts, order)),
    seeRun: (watch: RunWatch) => watchRun(parts, watch, Context.current().cancellationSignal),
    cancelRun: (order: { readonly skill: string; readonly run: StartedRun }) =>
      cancelRun(parts, order),
    ruledOn: ({ approval_id }: { readonly approval_id: string }) =>
      heldCallStatus(parts, approval_id),
    withdrawCall: (order: { readonly approval_id: string; readonly task_id: string }) =>
      withdrawCall(parts, order),
  };
}

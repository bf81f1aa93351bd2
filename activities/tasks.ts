import { Context } from "@temporalio/activity";
import type { RuledCall, SeenRun, StartedRun, TaskRecord } from "../domain/mod.ts";
import { Problem } from "../contract/mod.ts";
import { putTask } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** A run, and what is known of it. */
export interface Look {
  readonly run: StartedRun;
  /** That it is known to be at; null: none. */
  readonly step: string | null;
  /** Longest to wait for another, ≥ 0. */
  readonly seconds: number;
}

/** A task, complete but for what came out of it. */
export type ResultOrder = { readonly task: TaskRecord; readonly skill: string } & Source;

/** Where what came out of a call is found: its run, or the call that people have approved. */
export type Source = { readonly run: StartedRun } | { readonly approval_id: string };

/** What tasks of agents do with calls of tools; made of the operations. */
export interface TaskCalls {
  /** Waits for another step of a run, or its end. */
  see(look: Look, signal: AbortSignal): Promise<SeenRun>;
  /** Asks a run to end. @returns false where others may wait for it */
  cancel(order: { readonly skill: string; readonly run: StartedRun }): Promise<boolean>;
  /** How a call stands that people are asked about. */
  ruled(approvalId: string): Promise<RuledCall>;
  /** Takes back a call that nobody has decided about. @returns false where it is too late, or others wait for it */
  withdraw(order: { readonly approval_id: string; readonly task_id: string }): Promise<boolean>;
  /** Gives the task with what came out of it. */
  result(order: ResultOrder): Promise<TaskRecord>;
  /** Tells the tasks that wait for an approval that something has become of it. */
  tell(approvalId: string): Promise<void>;
}

/** What agents see of their tasks. All of it is safe to repeat: what is shown has a version, and the rest only looks. */
export function tasks({ store, calls }: ActivityParts) {
  const known = () => {
    if (calls) return calls;
    throw new Problem("Unavailable", "This worker has no operations");
  };

  /** Shows a task as it is now, and tells those who follow it. */
  async function showTask(task: TaskRecord): Promise<void> {
    await putTask(store.asPlatform(), task);
  }

  /** Shows a task with what came out of it, which may be larger than what a workflow bears. */
  async function showResult(order: ResultOrder): Promise<void> {
    await putTask(store.asPlatform(), await known().result(order));
  }

  return {
    showTask,
    showResult,
    seeRun: (look: Look) => known().see(look, Context.current().cancellationSignal),
    cancelRun: (order: Parameters<TaskCalls["cancel"]>[0]) => known().cancel(order),
    ruledOn: ({ approval_id }: { approval_id: string }) => known().ruled(approval_id),
    withdrawCall: (order: Parameters<TaskCalls["withdraw"]>[0]) => known().withdraw(order),
  };
}

import { randomUUID } from "node:crypto";
import { WorkflowNotFoundError } from "@temporalio/client";
import {
  type TaskMessage,
  type TaskRecord,
  TERMINAL_STATES,
} from "../../../contract/domain/mod.ts";
import { taskWorkflowId } from "./begin.ts";
import { getTask, putTask } from "../../../store/a2a/mod.ts";
import { type Platform } from "../../../calls/mod.ts";

/**
 * Returns an open task as it really stands: one whose workflow was ended from outside has failed. While Temporal is away
 * the task is returned as stored.
 */
export async function withActualState(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  task: TaskRecord,
): Promise<TaskRecord> {
  if (TERMINAL_STATES.has(task.state)) return task;
  const status = await statusOf(temporal, task.id);
  if (status === "open" || status === "unknown") return task;
  const db = store.db;
  const current = await getTask<TaskRecord>(db, task.id, task.key_id);
  if (!current || TERMINAL_STATES.has(current.state)) return current ?? task; // it has ended by itself meanwhile
  const text = "Its workflow was ended from outside, so nothing more will come of it";
  const said: TaskMessage = { message_id: randomUUID(), role: "agent", parts: [{ text }] };
  const failed: TaskRecord = {
    ...current,
    state: "failed",
    version: current.version + 1,
    said,
    since: new Date().toISOString(),
    history: [...current.history, said],
  };
  await putTask(db, failed);
  return await getTask<TaskRecord>(db, task.id, task.key_id) ?? current;
}

/** Returns whether a task has, or had, a workflow; true where that can't be told. */
export async function isStarted(temporal: Platform["temporal"], id: string): Promise<boolean> {
  return await statusOf(temporal, id) !== "missing";
}

async function statusOf(
  temporal: Platform["temporal"],
  id: string,
): Promise<"open" | "ended" | "missing" | "unknown"> {
  try {
    const handle = (await temporal()).workflow.getHandle(taskWorkflowId(id));
    return (await handle.describe()).status.name === "RUNNING" ? "open" : "ended";
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? "missing" : "unknown";
  }
}

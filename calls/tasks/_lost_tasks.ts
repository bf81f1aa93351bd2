import { randomUUID } from "node:crypto";
import { ENDS, type TaskMessage, type TaskRecord } from "../../domain/mod.ts";
import { WorkflowNotFoundError } from "@temporalio/client";
import { getTask, putTask } from "../../store/mod.ts";
import { taskWorkflowOf } from "./begin.ts";
import type { Platform } from "../platform.ts";

/**
 * An open task as it really stands: where its workflow was ended from outside, nothing would ever come of it, and so it
 * has failed. While Temporal is away it is shown as it was.
 */
export async function asItStands(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  task: TaskRecord,
): Promise<TaskRecord> {
  if (ENDS.has(task.state) || await isDriven(temporal, task.id)) return task;
  const again = await getTask<TaskRecord>(store.asPlatform(), task.id, task.key_id);
  if (!again || ENDS.has(again.state)) return again ?? task; // it has ended meanwhile, by itself
  const text = "Its workflow was ended from outside, so nothing more will come of it";
  const said: TaskMessage = { message_id: randomUUID(), role: "agent", parts: [{ text }] };
  await putTask(store.asPlatform(), {
    ...{ ...again, state: "failed", version: again.version + 1, said },
    ...{ since: new Date().toISOString(), history: [...again.history, said] },
  } as TaskRecord);
  return await getTask<TaskRecord>(store.asPlatform(), task.id, task.key_id) ?? again;
}

/** Whether there is, or was, a workflow that drives it, as far as can be told. */
export async function isStarted(temporal: Platform["temporal"], id: string): Promise<boolean> {
  try {
    await (await temporal()).workflow.getHandle(taskWorkflowOf(id)).describe();
    return true;
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}

/** Whether its workflow runs, as far as can be told. */
async function isDriven(temporal: Platform["temporal"], id: string): Promise<boolean> {
  try {
    const { status } = await (await temporal()).workflow.getHandle(taskWorkflowOf(id)).describe();
    return status.name === "RUNNING";
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}

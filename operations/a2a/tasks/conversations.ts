import { isDeepStrictEqual } from "node:util";
import { InvalidInput, Problem } from "../../../contract/mod.ts";
import {
  cancelUpdate,
  sayUpdate,
  type TaskMessage,
  type TaskPart,
  type TaskRecord,
  TERMINAL_STATES,
} from "../../../contract/domain/mod.ts";
import { noteCallEffects } from "../../../store/calls/mod.ts";
import { beginTask, newTask, taskWorkflowId } from "./begin.ts";
import { findOpenedTask, findStartedTask } from "./messages.ts";
import { getTask } from "../../../store/a2a/mod.ts";
import { type Context, mapTemporalErrors } from "../../../calls/mod.ts";

/** A message of an agent. */
export interface AgentMessage {
  /** Chosen by the agent. */
  readonly message_id: string;
  /** Task that it continues; absent: it opens one. */
  readonly task_id?: string | undefined;
  /** Id of the task that it opens; absent: it is derived from the message. */
  readonly opens?: string | undefined;
  readonly context_id?: string | undefined;
  readonly parts: readonly TaskPart[];
}

/**
 * Opens a task with a message of an agent, or adds the message to an open task of its key. A message that is sent again
 * changes nothing more.
 *
 * @returns the task as it is then
 * @throws {InvalidInput} the task is of another context, or has another message of that id
 * @throws {Problem} `NotFound`; `Conflict`: the task has ended; `Unavailable`
 */
export async function addMessage(context: Context, sent: AgentMessage): Promise<TaskRecord> {
  return sent.task_id === undefined
    ? await openTask(context, sent)
    : await continueTask(context, sent.task_id, sent);
}

function messageOf({ message_id, parts }: AgentMessage): TaskMessage {
  return { message_id, role: "user", parts };
}

/** Refuses a message that its task can't take. @throws as {@linkcode addMessage} */
export async function checkMessage(context: Context, sent: AgentMessage): Promise<void> {
  if (sent.task_id !== undefined) await findContinued(context, sent.task_id, sent);
}

/** Refuses to cancel a task that is not the caller's, or has ended. @throws as {@linkcode cancelOpenTask} */
export async function checkOpenTask(context: Context, taskId: string): Promise<void> {
  refuseEnded(await ownTask(context, taskId));
}

/**
 * Cancels an open task of the caller's key.
 *
 * @returns the task as it ended
 * @throws {Problem} `NotFound`; `Conflict`: it has ended otherwise; `Unavailable`
 */
export async function cancelOpenTask(context: Context, taskId: string): Promise<TaskRecord> {
  const { store, decisionId } = context;
  refuseEnded(await ownTask(context, taskId));
  const handle = (await context.temporal()).workflow.getHandle(taskWorkflowId(taskId));
  await noteCallEffects(store.db, decisionId, { task_id: taskId });
  const ended = await mapTemporalErrors(
    handle.executeUpdate(cancelUpdate, { updateId: decisionId }),
    () => new Problem("Conflict", `Cannot cancel task ${taskId}: it has ended`),
  );
  if (ended.state !== "canceled") refuseEnded(ended); // the cancellation came too late
  return ended;
}

async function openTask(
  context: Context,
  sent: AgentMessage,
): Promise<TaskRecord> {
  const { message_id, opens, context_id, parts } = sent;
  const { store, decisionId } = context;
  const key_id = context.caller.keyId!;
  const held = opens && await findStartedTask(context, opens, key_id);
  if (held) {
    await noteCallEffects(store.db, decisionId, { task_id: opens }, { held: true });
    return held; // its workflow continues by itself once the call is approved
  }
  const opened = opens
    ? { id: opens }
    : await findOpenedTask(context, { key_id, message_id, context_id, content: parts });
  if ("task" in opened) return opened.task;
  const task = newTask({
    id: opened.id,
    key_id,
    history: [messageOf(sent)],
    ...(context_id ? { context_id } : {}),
  });
  await noteCallEffects(store.db, decisionId, { task_id: task.id });
  return await beginTask(context, task, undefined, decisionId);
}

async function continueTask(
  context: Context,
  taskId: string,
  sent: AgentMessage,
): Promise<TaskRecord> {
  const { store, decisionId } = context;
  const { task, isKnown } = await findContinued(context, taskId, sent);
  if (isKnown) return task;
  const handle = (await context.temporal()).workflow.getHandle(taskWorkflowId(taskId));
  await noteCallEffects(store.db, decisionId, { task_id: taskId });
  return await mapTemporalErrors(
    handle.executeUpdate(sayUpdate, { args: [messageOf(sent)], updateId: decisionId }),
    () => new Problem("Conflict", `Task ${taskId} has ended; start another one`),
  );
}

/** Returns the task that a message continues, and whether it has the message already. @throws as {@linkcode addMessage} */
async function findContinued(
  context: Context,
  taskId: string,
  sent: AgentMessage,
): Promise<{ readonly task: TaskRecord; readonly isKnown: boolean }> {
  const { message_id, context_id } = sent;
  const task = await ownTask(context, taskId);
  if (context_id !== undefined && context_id !== task.context_id) {
    throw invalid("contextId", `Task ${taskId} belongs to another context than ${context_id}`);
  }
  const earlier = task.history.find((one) => one.message_id === message_id);
  if (earlier && isDeepStrictEqual(earlier, messageOf(sent))) return { task, isKnown: true };
  if (earlier) {
    const msg = `Task ${taskId} has a message ${message_id} with other content; use a new id`;
    throw invalid("messageId", msg);
  }
  refuseEnded(task);
  return { task, isKnown: false };
}

async function ownTask({ store, caller }: Context, id: string): Promise<TaskRecord> {
  const task = await getTask<TaskRecord>(store.db, id, caller.keyId!);
  if (!task) throw new Problem("NotFound", `Task not found: ${id}`);
  return task;
}

function refuseEnded({ id, state }: TaskRecord): void {
  if (TERMINAL_STATES.has(state)) throw new Problem("Conflict", `Task ${id} has ended: ${state}`);
}

function invalid(field: string, msg: string): InvalidInput {
  return new InvalidInput([{ path: [field], msg, type: "value_error" }]);
}

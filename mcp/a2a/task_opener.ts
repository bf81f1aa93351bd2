import type { OpeningMessage } from "../../operations/a2a/tasks/mod.ts";
import { type TaskRecord, TERMINAL_STATES } from "../../contract/domain/mod.ts";
import { earlierMeta, receiptMeta } from "../tool_call.ts";
import type { A2aHandlerParts, MessageResult, RequestSender } from "./handlers.ts";
import { makeTaskSafe } from "./safe_task.ts";

/** Messages that are opening a task in this process, by key and message id. */
export type OpeningTasks = Map<string, Promise<unknown>>;

type Message = Omit<OpeningMessage, "key_id">;
type Open = (id: string) => Promise<MessageResult>;

/**
 * Creates the function that opens tasks for one key's messages, each once: a message that is sent again, as its client
 * has received no response, returns the task that it has opened before. That is counted and sealed like any other.
 */
export function createTaskOpener<C>(
  { tools, makeSafe, tasks, auth }: A2aHandlerParts<C>,
  opening: OpeningTasks,
  caller: RequestSender["caller"],
): (message: Message, open: Open) => Promise<MessageResult> {
  async function openOnce(message: Message, open: Open): Promise<MessageResult> {
    const opened = await tasks.findOpened({ key_id: caller.keyId, ...message }, caller);
    return "task" in opened ? { task: await repeat(opened.task) } : await open(opened.id);
  }

  async function repeat(task: TaskRecord): Promise<TaskRecord> {
    const started = performance.now();
    await auth.count(caller);
    const { id, version, since } = task;
    const receiptId = await auth.record({
      door: "a2a",
      caller,
      method: "message/send",
      subject: "message",
      arguments: { id },
      result: { found: true, id, version },
      durationMs: performance.now() - started,
    });
    const earlier = earlierMeta(TERMINAL_STATES.has(task.state) ? since : undefined);
    const metadata = { ...receiptMeta(receiptId), ...earlier, ...task.metadata };
    return await makeTaskSafe({ ...task, metadata }, caller.tenant, tools, makeSafe);
  }

  return async (message, open) => {
    const key = `${caller.keyId} ${message.message_id}`;
    for (let other; (other = opening.get(key));) await other.catch(() => {});
    const result = openOnce(message, open);
    opening.set(key, result);
    try {
      return await result;
    } finally {
      opening.delete(key);
    }
  };
}

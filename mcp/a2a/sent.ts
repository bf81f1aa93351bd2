import { TERMINAL_STATES, type TaskRecord } from "../../domain/mod.ts";
import { earlierMeta, receiptMeta } from "../call.ts";
import type { AnswerParts, Asker, Given } from "./answers.ts";
import { presented } from "./presented.ts";
import type { OpeningMessage } from "../../calls/tasks/mod.ts";

/** What is being opened here, by who sent which message. */
export type UnderWay = Map<string, Promise<unknown>>;

/**
 * Opens what the messages of one key ask for, each once: a message that was sent before, by a client that has heard no
 * answer, gives the task that it has opened. That is counted and sealed as any other.
 */
export function opening<C>(
  { tools, findInjection, tasks, entrance, underWay }: AnswerParts<C>,
  caller: Asker["caller"],
): (
  sent: Omit<OpeningMessage, "key_id">,
  open: (id: string) => Promise<Given>,
) => Promise<Given> {
  async function opened(
    sent: Omit<OpeningMessage, "key_id">,
    open: (id: string) => Promise<Given>,
  ): Promise<Given> {
    const before = await tasks.opened({ key_id: caller.keyId, ...sent });
    return "task" in before ? { task: await toldAgain(before.task) } : await open(before.id);
  }

  async function toldAgain(task: TaskRecord): Promise<TaskRecord> {
    const started = performance.now();
    await entrance.admit(caller);
    const { id, version, since } = task;
    const receiptId = await entrance.record({
      ...{ door: "a2a", caller, method: "message/send", subject: "message", arguments: { id } },
      result: { found: true, id, version },
      durationMs: performance.now() - started,
    });
    const earlier = earlierMeta(TERMINAL_STATES.has(task.state) ? since : undefined);
    const metadata = { ...receiptMeta(receiptId), ...earlier, ...task.metadata };
    return presented({ ...task, metadata }, tools, findInjection);
  }

  return async (sent, open) => {
    const name = `${caller.keyId} ${sent.message_id}`;
    for (let other; (other = underWay.get(name));) await other.catch(() => {});
    const work = opened(sent, open);
    underWay.set(name, work);
    try {
      return await work;
    } finally {
      underWay.delete(name);
    }
  };
}

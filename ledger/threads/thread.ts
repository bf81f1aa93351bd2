import { basename } from "node:path";
import { type TransferListItem, Worker } from "node:worker_threads";
import type { ThreadAnswer, ThreadRequest } from "./answer_messages.ts";

/** A thread that answers messages, in any order. */
export interface Thread<Message, Answer> {
  /**
   * Sends a message and waits for its answer.
   *
   * @param transfer memory of the message that is handed over instead of copied
   * @throws {ThreadEnded} the thread has failed or ended
   * @throws {Error} it could not answer this message
   */
  ask(message: Message, transfer?: readonly TransferListItem[]): Promise<Answer>;
  /** Returns how many messages wait for an answer. */
  pendingCount(): number;
  close(): Promise<void>;
}

/** A thread has failed or ended. It answers nothing any more. */
export class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
}

/** A message that waits for its answer. */
interface PendingMessage<Answer> {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Starts a thread, whose program calls `answerMessages`.
 *
 * @param program absolute path
 * @param data available to the thread as `workerData.data`
 */
export function startThread<Message, Answer>(
  program: string,
  data: unknown,
): Thread<Message, Answer> {
  const worker = new Worker(program, { workerData: { data } });
  const pending = new Map<number, PendingMessage<Answer>>();
  let count = 0;
  let ended: ThreadEnded | undefined;

  function end(reason: string, cause?: unknown): void {
    ended ??= new ThreadEnded(`The thread ${basename(program)} ${reason}`, { cause });
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  }

  worker
    .on("message", ({ id, ...result }: ThreadAnswer<Answer>) => {
      const message = pending.get(id);
      pending.delete(id);
      if ("error" in result) message?.reject(new Error(result.error));
      else message?.resolve(result.answer);
    })
    .on("messageerror", (error) => {
      end("sent an answer that can't be read", error); // whose it was is unknown
      void worker.terminate();
    })
    .on("error", (error) => end(`has failed: ${error}`, error))
    .on("exit", () => end("has ended"));
  return {
    ask: (message, transfer = []) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended);
        const id = ++count;
        worker.postMessage({ id, message } satisfies ThreadRequest<Message>, transfer);
        pending.set(id, { resolve, reject });
      }),
    pendingCount: () => pending.size,
    close: async () => void await worker.terminate(),
  };
}

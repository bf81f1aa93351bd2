import { type TransferListItem, Worker } from "node:worker_threads";
import { programPath } from "../../config.ts";

/** A thread that answers messages in the order in which they were sent. */
export interface Thread<Message, Answer> {
  /**
   * Sends a message and waits for its answer.
   *
   * @param transfer memory of the message that is handed over instead of copied
   * @throws {Error} the thread has failed or ended
   */
  ask(message: Message, transfer?: readonly TransferListItem[]): Promise<Answer>;
  /** Returns how many messages wait for an answer. */
  pendingCount(): number;
  close(): Promise<void>;
}

/**
 * Starts a thread.
 *
 * @param source path of its program in the project: `ledger/seal/_sign_worker.ts`
 * @param data available to the thread as `workerData.data`
 */
export function startThread<Message, Answer>(
  source: string,
  data: unknown,
): Thread<Message, Answer> {
  const worker = new Worker(programPath(source), { workerData: { data } });
  const pending: { resolve(answer: Answer): void; reject(error: unknown): void }[] = [];
  const fail = (error: unknown) => pending.splice(0).forEach(({ reject }) => reject(error));
  worker
    .on("message", (answer: Answer) => pending.shift()?.resolve(answer))
    .on("error", fail)
    .on("exit", () => fail(new Error(`The thread ${source} has ended`)));
  return {
    ask: (message, transfer = []) =>
      new Promise((resolve, reject) => {
        pending.push({ resolve, reject });
        worker.postMessage(message, transfer);
      }),
    pendingCount: () => pending.length,
    close: async () => void await worker.terminate(),
  };
}

/** Byte strings in one piece of memory, which can be handed over to a thread. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each byte string ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** Packs byte strings, in their order. */
export function packBytes(parts: readonly Uint8Array[]): PackedBytes {
  const ends = new Uint32Array(parts.length);
  let end = 0;
  parts.forEach((part, n) => ends[n] = end += part.length);
  const bytes = new Uint8Array(end);
  parts.forEach((part, n) => bytes.set(part, ends[n]! - part.length));
  return { bytes, ends };
}

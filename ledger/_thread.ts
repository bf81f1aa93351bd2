import { type TransferListItem, Worker, type WorkerOptions } from "node:worker_threads";

/** Sources run through tsx, which Node 20 does not hand on to threads. */
const FROM_SOURCE = `import("tsx/esm/api").then(({ register }) => {
  register();
  return import(require("node:worker_threads").workerData.entry);
});`;

/** A thread that answers one message after the other. */
export interface Thread<Ask, Answer> {
  /** @param transfer memory of the message that is handed over, and not copied */
  ask(message: Ask, transfer: readonly TransferListItem[]): Promise<Answer>;
  /** Messages that it has not answered yet. */
  waiting(): number;
  close(): Promise<void>;
}

/**
 * Starts a thread of this folder, from its source or its compiled form, whichever this is.
 *
 * @param name of the file, without its extension
 * @param data what the thread finds as `workerData.data`
 */
export function startThread<Ask, Answer>(name: string, data: unknown): Thread<Ask, Answer> {
  const worker = start(name, data);
  const waiting: { resolve(answer: Answer): void; reject(error: unknown): void }[] = [];
  const fail = (error: unknown) => waiting.splice(0).forEach(({ reject }) => reject(error));
  worker
    .on("message", (answer: Answer) => waiting.shift()?.resolve(answer))
    .on("error", fail)
    .on("exit", () => fail(new Error(`The thread ${name} has ended`)));
  return {
    ask: (message, transfer) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        worker.postMessage(message, transfer);
      }),
    waiting: () => waiting.length,
    close: async () => void await worker.terminate(),
  };
}

function start(name: string, data: unknown): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  const entry = new URL(`./${name}.${isSource ? "ts" : "js"}`, import.meta.url);
  const options: WorkerOptions = { workerData: { entry: entry.href, data } };
  return isSource
    ? new Worker(FROM_SOURCE, { ...options, eval: true, execArgv: [] })
    : new Worker(entry, options);
}

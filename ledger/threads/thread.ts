import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type TransferListItem, Worker, type WorkerOptions } from "node:worker_threads";

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
 * Starts a thread from its source or its compiled form, whichever the caller runs as.
 *
 * @param script of the thread, with the extension of its source: `new URL("./_worker.ts", import.meta.url)`
 * @param data available to the thread as `workerData.data`
 */
export function startThread<Message, Answer>(script: URL, data: unknown): Thread<Message, Answer> {
  const worker = startWorker(script, data);
  const pending: { resolve(answer: Answer): void; reject(error: unknown): void }[] = [];
  const fail = (error: unknown) => pending.splice(0).forEach(({ reject }) => reject(error));
  worker
    .on("message", (answer: Answer) => pending.shift()?.resolve(answer))
    .on("error", fail)
    .on("exit", () => fail(new Error(`The thread ${script.pathname} has ended`)));
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

function startWorker(script: URL, data: unknown): Worker {
  const options: WorkerOptions = { workerData: { data } };
  if (!import.meta.url.endsWith(".ts")) {
    return new Worker(new URL(script.href.replace(/\.ts$/, ".js")), options);
  }
  let code = bundles.get(script.href);
  if (code === undefined) bundles.set(script.href, code = bundle(fileURLToPath(script)));
  return new Worker(code, { ...options, eval: true, execArgv: [] });
}

const bundles = new Map<string, string>();

/** Bundles a thread's code: Node 20 does not pass tsx on to threads, and loading it there takes half a second. */
function bundle(path: string): string {
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  const { outputFiles: [file] } = buildSync({
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    external: ["knex", "pg"], // they require drivers that are not installed
    banner: {
      js: `require = require("node:module").createRequire(${JSON.stringify(import.meta.url)});`,
    },
  });
  return file!.text;
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

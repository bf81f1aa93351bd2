import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type TransferListItem, Worker, type WorkerOptions } from "node:worker_threads";

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
  const options: WorkerOptions = { workerData: { data } };
  if (!import.meta.url.endsWith(".ts")) {
    return new Worker(new URL(`./${name}.js`, import.meta.url), options);
  }
  let code = bundles.get(name);
  if (code === undefined) bundles.set(name, code = bundle(name));
  return new Worker(code, { ...options, eval: true, execArgv: [] });
}

const bundles = new Map<string, string>();

/** A thread's code in one piece: Node 20 does not hand tsx on to threads, and loading it there takes half a second. */
function bundle(name: string): string {
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  const { outputFiles: [file] } = buildSync({
    entryPoints: [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))],
    ...{ bundle: true, write: false, platform: "node", format: "cjs" },
    external: ["knex", "pg"], // which name drivers that are not there
    banner: {
      js: `require = require("node:module").createRequire(${JSON.stringify(import.meta.url)});`,
    },
  });
  return file!.text;
}

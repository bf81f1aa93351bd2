import { Worker, type WorkerOptions } from "node:worker_threads";

/** Sources run through tsx, which Node 20 does not hand on to threads. */
const FROM_SOURCE = `import("tsx/esm/api").then(({ register }) => {
  register();
  return import(require("node:worker_threads").workerData.entry);
});`;

/**
 * Starts a thread of this folder, from its source or its compiled form, whichever this is.
 *
 * @param name of the file, without its extension
 * @param data what the thread finds as `workerData.data`
 */
export function startThread(name: string, data: unknown): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  const entry = new URL(`./${name}.${isSource ? "ts" : "js"}`, import.meta.url);
  const options: WorkerOptions = { workerData: { entry: entry.href, data } };
  return isSource
    ? new Worker(FROM_SOURCE, { ...options, eval: true, execArgv: [] })
    : new Worker(entry, options);
}

/**
 * Temporal: connecting to it, registering search attributes, schedules and routines, and running workers.
 *
 * ```ts
 * const { client, close } = await connectTemporal(config, store);
 * await registerTemporal(client, config);
 * await ensureSequencer(client);
 * ```
 *
 * @module
 */
export {
  clientFor,
  connectBare,
  connectTemporal,
  connectWorker,
  locateTemporal,
  openLazyTemporal,
} from "./connect.ts";
export {
  ensureMailbox,
  ensureRelay,
  ensureSequencer,
  keepWorkflowRunning,
} from "./long_lived_workflows.ts";
export { authenticatedWork } from "./authenticated_work.ts";
export { readEnvelope, workerCodec } from "./payloads.ts";
export { prepareNamespace, registerTemporal } from "./register.ts";
export { ensureRoutine, listRoutines, sweepNow } from "./routines.ts";
export { createSdkLogger, installRuntime } from "./sdk_log.ts";
export type { WorkerParts } from "./_worker_group.ts";
export { listWorkerQueues, startWorkers, type Workers } from "./workers.ts";

/**
 * The supervisor of `npm start`: brings the platform up as one tree of processes, and restarts what ends.
 *
 * ```ts
 * const gateway = openChild({ name: "gateway", program, … }); // loads
 * const address = await gateway.start({ SEALOOP_DATABASE_GATEWAY_URL: … });
 * ```
 *
 * @module
 */
export { type Child, type ChildOptions, openChild } from "./child.ts";
export {
  keepServer,
  type KeptServer,
  type RunningServer,
  type ServerOptions,
} from "./kept_server.ts";
export { checkPorts, type WantedPort } from "./ports.ts";
export {
  type DatabaseUrls,
  type Environment,
  initialEnvironment,
  type ProcessEntry,
  PROCESSES,
  serverEnvironment,
  temporalEnvironment,
  usesOwnTemporal,
} from "./process_list.ts";
export { openProgress, type Progress, type Step } from "./progress.ts";
export { runPlatform } from "./platform.ts";

/**
 * The processes of the platform: how each runs, and how they are kept running together.
 *
 * ```ts
 * const gateway = openChild({ name: "gateway", entry, … }); // loads
 * const address = await gateway.go({ DATABASE_URL: … });    // starts
 * ```
 *
 * @module
 */
export { type Child, type ChildOptions, openChild } from "./supervisor/child.ts";
export {
  baseEnvironment,
  ENTRIES,
  type Entry,
  type Environment,
  grants,
  temporalEnvironment,
  type Urls,
  usesOwnTemporal,
} from "./environment.ts";
export {
  applyGovernanceFile,
  type GovernanceFile,
  governanceFileOf,
} from "../calls/governance/mod.ts";
export { checkPorts, type WantedPort } from "./supervisor/ports.ts";
export { openProgress, type Progress, type Step } from "./supervisor/progress.ts";
export {
  keepServer,
  type KeptServer,
  type RunningServer,
  type ServerOptions,
} from "./supervisor/server.ts";

/**
 * This host: probing and restarting services, its ports, its processes and the platform's own logs.
 *
 * ```ts
 * const { healthy, code } = await probe({ http: "http://127.0.0.1:8080/health" });
 * const outcome = await restart({ dataDir, effectId, service: "shop", restart: { command } });
 * ```
 *
 * Trusts: the operator who writes checks and restarts. Their commands get none of the platform's settings.
 * @module
 */
export { belongsToEffect, type Launch, type Limits, type Marks, readMarks } from "./_launch.ts";
export { discoverServices, graphHostName, THIS_HOST } from "./discovery.ts";
export { findFreePort } from "./free_port.ts";
export {
  findManagedProcess,
  type ManagedRecord,
  recordManagedProcess,
  stopManagedProcess,
} from "./managed.ts";
export { LOG_LEVELS, type LogLevel, type LogLine } from "./_log_line.ts";
export { type LogSearch, type LogSearchResult, readTail, searchLogs } from "./platform_logs.ts";
export {
  buildPortRegistry,
  isThisHost,
  listPortClaims,
  type PortClaim,
  type PortConflict,
  type PortEntry,
} from "./ports.ts";
export {
  type CheckKind,
  checkKind,
  describeCheck,
  type HealthCheck,
  probe,
  type ProbeResult,
} from "./probe.ts";
export {
  type ActionOutcome,
  findOutcome,
  type Restart,
  restart,
  type RestartRequest,
} from "./restart.ts";
export type { Service } from "./service.ts";
export { type ListeningSocket, listSockets } from "./sockets.ts";

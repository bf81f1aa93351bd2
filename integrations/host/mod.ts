export type { Service } from "./service.ts";
export { checkKind, describeCheck, type HealthCheck, probe, type ProbeResult } from "./probe.ts";
export { findManagedProcess, recordManagedProcess, stopManagedProcess } from "./managed.ts";
export { findFreePort } from "./free_port.ts";
export {
  type ActionOutcome,
  findOutcome,
  type Restart,
  restart,
  type RestartRequest,
} from "./restart.ts";
export { buildPortRegistry, isThisHost, listPortClaims, type PortEntry } from "./ports.ts";
export { type ListeningSocket, listeningSockets } from "./sockets.ts";
export { discoverServices, graphHostName, THIS_HOST } from "./discovery.ts";
export { LOG_LEVELS, parseLogLine, readTail, searchLogs } from "./platform_logs.ts";
export { belongsToEffect, readMarks } from "./_launch.ts";

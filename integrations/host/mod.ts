/**
 * This host: probing services and acting on them, its ports, its processes and the platform's own logs.
 *
 * ```ts
 * const { healthy, code } = await probe({ http: "http://127.0.0.1:8080/health" });
 * const outcome = await actOnce({ dataDir, effectId, service: "shop", act: { command } });
 * ```
 *
 * Trusts: the operator who writes checks and restarts. Their commands get none of the platform's settings.
 * @module
 */
export {
  actOnce,
  type ActOutcome,
  type ActRequest,
  findOutcome,
  type HostAct,
  readPrinted,
  type Service,
} from "./act.ts";
export { belongsToEffect, readMarks } from "./_launch.ts";
export { type ContainerEngine, openContainerEngine } from "./containers.ts";
export { discoverServices, graphHostName, THIS_HOST } from "./discovery.ts";
export { describeHolder, findPortHolder, type PortHolder, stopHolders } from "./holders.ts";
export { findFreePort } from "./free_port.ts";
export {
  findManagedProcess,
  lastManagedProcess,
  listLostProcesses,
  recordManagedProcess,
  setOnStop,
  stopManagedProcess,
  watchManagedProcesses,
} from "./managed.ts";
export { minimalEnvironment } from "./_environment.ts";
export { LOG_LEVELS } from "./_log_line.ts";
export { redactLine } from "./_log_secrets.ts";
export { readTail, searchLogs } from "./platform_logs.ts";
export {
  buildPortRegistry,
  hostPortOf,
  isThisHost,
  listPortClaims,
  type PortEntry,
} from "./ports.ts";
export {
  checkKind,
  describeCheck,
  type HealthCheck,
  parseHostPort,
  probe,
  type ProbeResult,
} from "./probe.ts";
export { findListener, type ListeningSocket, listSockets } from "./sockets.ts";
export { readTcpTable, type TcpSocket, type TcpState } from "./tcp_table.ts";

/**
 * The systems outside the platform, one file each: this host and the services on it.
 *
 * ```ts
 * const { healthy, code } = await probe({ http: "http://127.0.0.1:8080/v1/health" });
 * const happened = await restart({ dataDir, effectId, service: "billing", restart: { command: ["systemctl", "restart", "billing"] } });
 * ```
 *
 * @module
 */
export * from "./detectors/mod.ts";
export * from "./addresses.ts";
export type { Launch, Limits } from "./_launch.ts";
export * from "./discovery.ts";
export * from "./findings.ts";
export * from "./free_port.ts";
export * from "./http_client.ts";
export * from "./managed.ts";
export * from "./ports.ts";
export * from "./probe.ts";
export * from "./restart.ts";
export * from "./scan/mod.ts";
export * from "./secret_box.ts";
export * from "./services_file.ts";
export * from "./sockets.ts";
export * from "./webhook.ts";
export {
  LOG_LEVELS,
  type LogLevel,
  type LogLine,
  type LogSearch,
  readLine,
  searchLogs,
} from "./platform_logs.ts";

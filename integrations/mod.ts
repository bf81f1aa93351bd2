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
export * from "../detection/mod.ts";
export * from "./http/addresses.ts";
export type { Launch, Limits } from "./host/_launch.ts";
export * from "./host/discovery.ts";
export * from "../detection/findings.ts";
export * from "./host/free_port.ts";
export * from "./http/http_client.ts";
export * from "./host/managed.ts";
export * from "./host/ports.ts";
export * from "./host/probe.ts";
export * from "./host/restart.ts";
export * from "../compliance/scans/mod.ts";
export * from "./webhooks/secret_box.ts";
export * from "../detection/services_file.ts";
export * from "./host/sockets.ts";
export * from "./webhooks/webhook.ts";
export {
  LOG_LEVELS,
  type LogLevel,
  type LogLine,
  type LogSearch,
  readLine,
  searchLogs,
} from "./host/platform_logs.ts";

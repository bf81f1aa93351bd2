import type { ServiceRecord } from "../../store/mod.ts";
import type { HealthCheck } from "./probe.ts";
import type { Restart } from "./restart.ts";

/** A service with its health check and the way to restart it. */
export type Service = ServiceRecord<HealthCheck, Restart>;

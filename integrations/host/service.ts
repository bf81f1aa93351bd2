import type { ServiceRecord } from "../../store/mod.ts";
import type { HealthCheck } from "./probe.ts";
import type { Restart } from "./restart.ts";

/** A service, with the types of its health check and restart. */
export type Service = ServiceRecord<HealthCheck, Restart>;

import type { Source } from "../../../contract/domain/mod.ts";
import { type HealthCheck, probe, type ProbeResult } from "../../../integrations/host/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { getService } from "../../../store/cmdb/mod.ts";

/** Most findings, tickets, repairs or changes that a report lists, each. */
export const MAX_LISTED = 5;

/** Returns the source of what is said about a service. */
export function serviceSource(name: string): Source {
  return { id: name, kind: "service", title: `Service ${name}` };
}

/** Probes a service; undefined if it has no health check. */
export async function probeService(db: Db, name: string): Promise<ProbeResult | undefined> {
  const check = (await getService(db, name))?.check;
  return check ? await probe(check as HealthCheck) : undefined;
}

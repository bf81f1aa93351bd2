import type { Source } from "../../../contract/domain/mod.ts";
import { type HealthCheck, probe, type ProbeResult } from "../../../integrations/host/mod.ts";
import { getService, isAtPlace } from "../../../store/cmdb/mod.ts";
import type { ActivityParts } from "../../parts.ts";

/** Most findings, tickets, repairs or changes that a report lists, each. */
export const MAX_LISTED = 5;

/** Returns the source of what is said about a service. */
export function serviceSource(name: string): Source {
  return { id: name, kind: "service", title: `Service ${name}` };
}

/** Probes a service; undefined if it has no health check, or is at another place. */
export async function probeService(
  { store, config }: Pick<ActivityParts, "store" | "config">,
  name: string,
): Promise<ProbeResult | undefined> {
  const service = await getService(store.db, name);
  if (!service?.check || !isAtPlace(service, config.place)) return undefined;
  return await probe(service.check as HealthCheck);
}

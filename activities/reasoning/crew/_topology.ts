import type { AgentReport, CrewScope, Suspect } from "../../../contract/domain/mod.ts";
import { getImpact } from "../../../store/cmdb/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { serviceSource } from "./_sources.ts";

/** Edges upstream that are followed. */
const DEPTH = 3;
const MAX_WEIGHT = 0.8;

/** Reports which dependencies of the services are down; the most distant one, closest to the root, weighs most. */
export async function reportTopology(
  { store }: Pick<ActivityParts, "store">,
  { services, round }: CrewScope,
): Promise<AgentReport> {
  const says: string[] = [];
  const suspects: Suspect[] = [];
  for (const name of services) {
    const impact = await getImpact(store.db, name, DEPTH);
    if (!impact) continue;
    const { upstream, downstream } = impact;
    const down = upstream.filter(({ status }) => status === "down");
    says.push(
      `${name} needs ${upstream.length} others and is needed by ${downstream.length}`,
      ...down.map((one) => `${name} needs ${one.name}, which is down`),
    );
    suspects.push(...down.map((one) => ({
      service: one.name,
      weight: Math.min(MAX_WEIGHT, 0.5 + one.distance / 10),
      why: `${name} needs it, and it is down`,
    })));
  }
  const sources = [...services, ...suspects.map(({ service }) => service)].map(serviceSource);
  return { agent: "topology", round, says, sources, suspects };
}

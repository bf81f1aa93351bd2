import {
  type AgentReport,
  type CrewScope,
  type Examination,
  say,
  type Suspect,
  type Text,
} from "../../../contract/domain/mod.ts";
import { getImpact } from "../../../store/cmdb/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { factsOf } from "./_examination.ts";
import { serviceSource } from "./_sources.ts";

/** Edges upstream that are followed. */
const DEPTH = 3;
const MAX_WEIGHT = 0.8;

/**
 * Reports what was observed of the dependencies of services that have a fault, and which ones were down when they were seen
 * last; the most distant one, closest to the root, weighs most.
 */
export async function reportTopology(
  { store }: Pick<ActivityParts, "store">,
  { services, round }: CrewScope,
  examined: readonly Examination[],
): Promise<AgentReport> {
  const says: Text[] = [];
  const suspects: Suspect[] = [];
  for (const name of services) {
    const impact = await getImpact(store.db, name, DEPTH);
    if (!impact) continue;
    const { upstream, downstream } = impact;
    const down = upstream.filter(({ status }) => status === "down");
    says.push(
      say`within ${DEPTH} steps, ${name} needs ${upstream.length} others and is needed by ${downstream.length}`,
      ...down.map((one) =>
        say`${name} needs ${one.name}${
          one.distance > 1 ? say` through others` : ""
        }, which was down when it was last seen`
      ),
    );
    suspects.push(...down.map((one) => ({
      service: one.name,
      weight: Math.min(MAX_WEIGHT, 0.5 + one.distance / 10),
      why: say`${name} needs it, and it was down when it was last seen`,
    })));
  }
  const sources = [...services, ...suspects.map(({ service }) => service)].map(serviceSource);
  return {
    agent: "topology",
    round,
    says: [...says, ...factsOf("topology", examined)],
    sources,
    suspects,
  };
}

import {
  type AgentReport,
  type CrewScope,
  type Examination,
  say,
  type Suspect,
  type Text,
} from "../../../contract/domain/mod.ts";
import type { ProbeResult } from "../../../integrations/host/mod.ts";
import { getProbeHistories, type ProbeHistory } from "../../../store/incidents/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { factsOf } from "./_examination.ts";
import { probeService, serviceSource } from "./_sources.ts";

const FAILING_WEIGHT = 0.6;
const FLAPPING_WEIGHT = 0.4;
/** Weight of a service of which what was observed names the cause for certain. */
const CAUSE_WEIGHT = 0.5;
/** Kind of causes that lie in another service. */
const ELSEWHERE = "dependency";

/** Reports how the services answer now and at their last probes, what was observed where one has a fault, and its cause. */
export async function reportMetrics(
  parts: Pick<ActivityParts, "store" | "config">,
  { services, round }: CrewScope,
  examined: readonly Examination[],
): Promise<AgentReport> {
  const { db } = parts.store;
  const histories = await getProbeHistories(db);
  const says: Text[] = [];
  const suspects: Suspect[] = [];
  for (const name of services) {
    const now = await probeService(parts, name);
    const history = histories.get(name);
    says.push(describeProbe(name, now));
    if (history && history.looks.length > 0) says.push(describeHistory(name, history));
    if (now && !now.healthy) {
      suspects.push({ service: name, weight: FAILING_WEIGHT, why: say`it fails its health check` });
    } else if (history?.flapping) {
      suspects.push({ service: name, weight: FLAPPING_WEIGHT, why: say`it goes up and down` });
    }
  }
  const causes = examined.filter(({ cause, category }) => cause !== null && category !== ELSEWHERE);
  suspects.push(...causes.map(({ service, cause_confidence }) => ({
    service,
    weight: Math.round(100 * cause_confidence * CAUSE_WEIGHT) / 100,
    why: say`what was observed there names a cause`,
  })));
  return {
    agent: "metrics",
    round,
    says: [...says, ...examined.map(describeCause), ...factsOf("metrics", examined)],
    sources: services.map(serviceSource),
    suspects,
  };
}

function describeProbe(name: string, now: ProbeResult | undefined): Text {
  if (!now) return say`${name} was not measured, as no check of it is known here`;
  return now.healthy
    ? say`${name} answers its check in ${Math.round(now.elapsedMs)} ms`
    : say`${name} fails its check: ${now.code.replaceAll("_", " ")}`;
}

function describeHistory(name: string, { looks }: ProbeHistory): Text {
  const down = [...looks].filter((look) => look === "d").length;
  return say`${name} was down at ${down} of its last ${looks.length} looks`;
}

/** Says which cause was named, by which observations; or that none was. */
function describeCause({ service, says, ticket_id, observations }: Examination): Text {
  const by = observations.length === 0 ? "" : say` (observations ${observations.join(", ")})`;
  return say`${service}${ticket_id ? say`, as observed for ${ticket_id}` : ""}: ${says}${by}`;
}

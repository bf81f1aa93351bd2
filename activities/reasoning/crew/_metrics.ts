import type { AgentReport, CrewScope, Suspect } from "../../../contract/domain/mod.ts";
import type { ProbeResult } from "../../../integrations/host/mod.ts";
import { getProbeHistories, type ProbeHistory } from "../../../store/incidents/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { probeService, serviceSource } from "./_sources.ts";

const FAILING_WEIGHT = 0.6;
const FLAPPING_WEIGHT = 0.4;

/** Reports how the services answer now, and how they answered their last probes. */
export async function reportMetrics(
  { store }: Pick<ActivityParts, "store">,
  { services, round }: CrewScope,
): Promise<AgentReport> {
  const db = store.db;
  const histories = await getProbeHistories(db);
  const says: string[] = [];
  const suspects: Suspect[] = [];
  for (const name of services) {
    const now = await probeService(db, name);
    const history = histories.get(name);
    says.push(describeProbe(name, now));
    if (history) says.push(describeHistory(name, history));
    if (now && !now.healthy) {
      suspects.push({ service: name, weight: FAILING_WEIGHT, why: "it fails its health check" });
    } else if (history?.flapping) {
      suspects.push({ service: name, weight: FLAPPING_WEIGHT, why: "it goes up and down" });
    }
  }
  return { agent: "metrics", round, says, sources: services.map(serviceSource), suspects };
}

function describeProbe(name: string, now: ProbeResult | undefined): string {
  if (!now) return `${name} has no check to measure it by`;
  return now.healthy
    ? `${name} answers its check in ${Math.round(now.elapsedMs)} ms`
    : `${name} fails its check: ${now.code.replaceAll("_", " ")}`;
}

function describeHistory(name: string, { looks }: ProbeHistory): string {
  const down = [...looks].filter((look) => look === "d").length;
  return `${name} was down at ${down} of its last ${looks.length} looks`;
}

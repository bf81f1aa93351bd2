import type {
  AgentReport,
  CrewScope,
  Suspect,
  Verification,
} from "../../../contract/domain/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { probeService, serviceSource } from "./_sources.ts";

/** Most suspects that are probed again. */
const MAX_SUSPECTS = 8;
/** Weight against a suspect that is healthy. */
const HEALTHY_WEIGHT = -0.5;

/** Reports which suspects of the other agents are healthy, and which were not examined yet. */
export async function reportVerification(
  parts: Pick<ActivityParts, "store" | "config">,
  { services, round }: CrewScope,
  reports: readonly AgentReport[],
): Promise<Verification> {
  const suspected = reports.flatMap(({ suspects }) => suspects.map(({ service }) => service));
  const all = [...new Set(suspected)];
  const names = all.slice(0, MAX_SUSPECTS);
  const objections: string[] = [];
  const suspects: Suspect[] = [];
  let measured = 0;
  for (const name of names) {
    const now = await probeService(parts, name);
    if (now) measured++;
    if (!now?.healthy) continue;
    objections.push(`${name} is suspected, and answers its health check now`);
    suspects.push({
      service: name,
      weight: HEALTHY_WEIGHT,
      why: "it answers when measured again",
    });
  }
  if (names.length === 0) objections.push("nothing that was found speaks against any service");
  const examined = new Set(
    reports.filter(({ agent }) => agent === "metrics")
      .flatMap(({ sources }) => sources.map(({ id }) => id)),
  );
  const look_at = names.filter((name) => !examined.has(name) && !services.includes(name));
  for (const name of look_at) {
    objections.push(`${name} may be the cause, and nobody has looked at it yet`);
  }
  return {
    agent: "verifier",
    round,
    says: objections.length > 0 ? objections : [describeMeasured(measured, all.length)],
    sources: names.map(serviceSource),
    suspects,
    objections,
    look_at,
  };
}

function describeMeasured(measured: number, suspects: number): string {
  if (measured === 0) {
    return "no check of what is suspected is known, so nothing was measured again";
  }
  return measured === suspects
    ? "measured again, each suspect fails its check"
    : `measured again, ${measured} of ${suspects} suspects fail their checks; the others were not measured`;
}

import {
  type AgentReport,
  type CrewScope,
  say,
  type Suspect,
  type Text,
  type Verification,
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
  const objections: Text[] = [];
  const suspects: Suspect[] = [];
  let measured = 0;
  for (const name of names) {
    const now = await probeService(parts, name);
    if (now) measured++;
    if (!now?.healthy) continue;
    objections.push(say`${name} is suspected, and answers its health check now`);
    suspects.push({
      service: name,
      weight: HEALTHY_WEIGHT,
      why: say`it answers when measured again`,
    });
  }
  if (names.length === 0) objections.push(say`nothing that was found speaks against any service`);
  const examined = new Set(
    reports.filter(({ agent }) => agent === "metrics")
      .flatMap(({ sources }) => sources.map(({ id }) => id)),
  );
  const look_at = names.filter((name) => !examined.has(name) && !services.includes(name));
  for (const name of look_at) {
    objections.push(say`${name} may be the cause, and nobody has looked at it yet`);
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

function describeMeasured(measured: number, suspects: number): Text {
  if (measured === 0) {
    return say`no check of what is suspected is known, so nothing was measured again`;
  }
  return measured === suspects
    ? say`measured again, each suspect fails its check`
    : say`measured again, ${measured} of ${suspects} suspects fail their checks; the others were not measured`;
}

import { joinTexts, PLATFORM_SOURCE, say, type Text } from "../../../contract/domain/mod.ts";
import { type HealthCheck, probe, type ProbeResult } from "../../../integrations/host/mod.ts";
import { getRepairHistory, listOpenFindings } from "../../../store/incidents/mod.ts";
import { getCmdbSummary, getImpact, getService, isAtPlace } from "../../../store/cmdb/mod.ts";
import { describeRepair, type LookupTool, MAX_LISTED, NOTHING } from "./_lookup.ts";

/** Most services that a sentence names one by one. */
const MAX_NAMED = 8;
const IMPACT_DEPTH = 2;

/** Looks up a service: its health now, and its open findings. */
export const service: LookupTool = async ({ db, config }, name) => {
  const record = await getService(db, name);
  if (!record) return NOTHING;
  const findings = (await listOpenFindings(db)).filter((finding) => finding.service === name);
  const isHere = isAtPlace(record, config.place);
  const health = record.check === null || !isHere
    ? undefined
    : await probe(record.check as HealthCheck);
  return {
    says: [
      say`${name} (${record.type}) ${
        isHere ? describeHealth(health) : describeLastLook(record.status)
      }.`,
      ...findings.map(({ code, first_seen_at, sightings }) =>
        say`Open finding ${words(code)} on ${name}, seen ${sightings} times since ${first_seen_at}.`
      ),
    ],
    sources: [{ id: name, kind: "service", title: `Service ${name}` }],
    data: {
      health: health?.code ?? null,
      findings: findings.map(({ fingerprint }) => fingerprint),
    },
  };
};

/** Looks up what a service needs, and what needs it. */
export const topology: LookupTool = async ({ db }, name) => {
  const impact = await getImpact(db, name, IMPACT_DEPTH);
  if (!impact) return NOTHING;
  const { upstream, downstream } = impact;
  const down = upstream.filter(({ status }) => status === "down").map((one) => one.name);
  return {
    says: [
      downstream.length === 0
        ? say`Nothing that is known needs ${name}.`
        : say`If ${name} fails, this may be affected: ${listServices(downstream)}.`,
      ...(upstream.length > 0 ? [say`${name} needs ${listServices(upstream)}.`] : []),
      ...(down.length > 0 ? [say`Of what ${name} needs, last seen down: ${down.join(", ")}.`] : []),
    ],
    sources: [{ id: name, kind: "service", title: `Service graph around ${name}` }],
    data: { upstream: upstream.length, downstream: downstream.length, upstream_down: down },
  };
};

/** Looks up how many services there are, and their health. */
export const services: LookupTool = async ({ db }) => {
  const { services, edges, by_status } = await getCmdbSummary(db);
  const health = joinTexts(
    Object.entries(by_status).map(([status, n]) => say`${n} ${status}`),
    ", ",
  );
  return {
    says: [
      say`The service graph has ${services} services (as last seen: ${
        health.length > 0 ? health : say`none`
      }) and ${edges} edges.`,
    ],
    sources: [PLATFORM_SOURCE],
    data: { services, edges, by_status },
  };
};

/** Looks up how many repairs there were, of one service or of all, and the newest. */
export const repairs: LookupTool = async ({ db }, service) => {
  const { remediations, by_state } = await getRepairHistory(db, {
    ...(service ? { service } : {}),
    limit: MAX_LISTED,
  });
  const count = Object.values(by_state).reduce((sum, n) => sum + n, 0);
  const of = service ? say` of ${service}` : "";
  const data = { repairs: count };
  if (count === 0) {
    const says = [
      say`No repair${of} is on record${service ? "" : say`, besides those of drills`}.`,
    ];
    return { says, sources: [PLATFORM_SOURCE], data };
  }
  const states = joinTexts(
    Object.entries(by_state).map(([state, n]) => say`${n} ${words(state)}`),
    ", ",
  );
  return {
    says: [
      say`Repairs${of} on record: ${count} (${states}).`,
      ...remediations.map((one) =>
        say`Repair ${
          one.runbook ?? say`without a runbook`
        } of ${one.service} on ${one.ticket_id}: ${describeRepair(one)}.`
      ),
    ],
    sources: [
      PLATFORM_SOURCE,
      ...remediations.map(({ ticket_id }) => {
        return { id: ticket_id, kind: "ticket" as const, title: `Ticket ${ticket_id}` };
      }),
    ],
    data,
  };
};

function describeHealth(health: ProbeResult | undefined): Text {
  if (!health) return say`has no health check`;
  return health.healthy
    ? say`answers its health check just now (${Math.round(health.elapsedMs)} ms)`
    : say`fails its health check just now: ${words(health.code)}`;
}

function describeLastLook(status = "unknown"): Text {
  return status === "unknown"
    ? say`was not looked at yet`
    : say`was ${status} when its place looked at it last`;
}

function words(code: string): string {
  return code.replaceAll("_", " ");
}

function listServices(
  services: readonly { readonly name: string; readonly status: string }[],
): Text {
  const named = services.slice(0, MAX_NAMED).map(({ name, status }) => say`${name} (${status})`);
  const more = services.length - named.length;
  return more > 0 ? say`${named.join(", ")} and ${more} more` : named.join(", ");
}

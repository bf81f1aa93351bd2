import { PLATFORM_SOURCE } from "../../../contract/domain/mod.ts";
import { type HealthCheck, probe, type ProbeResult } from "../../../integrations/host/mod.ts";
import { getRepairHistory, listOpenFindings } from "../../../store/incidents/mod.ts";
import { getCmdbSummary, getImpact, getService } from "../../../store/cmdb/mod.ts";
import { type LookupTool, MAX_LISTED, NOTHING } from "./_lookup.ts";

/** Most services that a sentence names one by one. */
const MAX_NAMED = 8;
const IMPACT_DEPTH = 2;

/** Looks up a service: its health now, and its open findings. */
export const service: LookupTool = async ({ db }, name) => {
  const record = await getService(db, name);
  if (!record) return NOTHING;
  const findings = (await listOpenFindings(db)).filter((finding) => finding.service === name);
  const health = record.check === null ? undefined : await probe(record.check as HealthCheck);
  return {
    says: [
      `${name} (${record.type}) ${describeHealth(health)}.`,
      ...findings.map(({ code, first_seen_at, sightings }) =>
        `Open finding ${words(code)} on ${name}, seen ${sightings} times since ${first_seen_at}.`
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
        ? `Nothing that is known needs ${name}.`
        : `If ${name} fails, this is affected: ${listServices(downstream)}.`,
      ...(upstream.length > 0 ? [`${name} needs ${listServices(upstream)}.`] : []),
      ...(down.length > 0 ? [`Of what ${name} needs, down: ${down.join(", ")}.`] : []),
    ],
    sources: [{ id: name, kind: "service", title: `Service graph around ${name}` }],
    data: { upstream: upstream.length, downstream: downstream.length, upstream_down: down },
  };
};

/** Looks up how many services there are, and their health. */
export const services: LookupTool = async ({ db }) => {
  const { services, edges, by_status } = await getCmdbSummary(db);
  const health = Object.entries(by_status).map(([status, n]) => `${n} ${status}`).join(", ");
  return {
    says: [`The service graph has ${services} services (${health || "none"}) and ${edges} edges.`],
    sources: [PLATFORM_SOURCE],
    data: { services, edges, by_status },
  };
};

/** Looks up the newest repairs, of one service or of all. */
export const repairs: LookupTool = async ({ db }, service) => {
  const { remediations } = await getRepairHistory(db, {
    ...(service ? { service } : {}),
    limit: MAX_LISTED,
  });
  const data = { repairs: remediations.length };
  if (remediations.length === 0) {
    const says = [`No repair ${service ? `of ${service} ` : ""}is on record.`];
    return { says, sources: [PLATFORM_SOURCE], data };
  }
  return {
    says: remediations.map(({ runbook, service, ticket_id, state }) =>
      `Repair ${runbook ?? "restart"} of ${service} on ${ticket_id}: ${state}.`
    ),
    sources: remediations.map(({ ticket_id }) => {
      return { id: ticket_id, kind: "ticket", title: `Ticket ${ticket_id}` };
    }),
    data,
  };
};

function describeHealth(health: ProbeResult | undefined): string {
  if (!health) return "has no health check";
  return health.healthy
    ? `answers its health check just now (${Math.round(health.elapsedMs)} ms)`
    : `fails its health check just now: ${words(health.code)}`;
}

function words(code: string): string {
  return code.replaceAll("_", " ");
}

function listServices(
  services: readonly { readonly name: string; readonly status: string }[],
): string {
  const named = services.slice(0, MAX_NAMED).map(({ name, status }) => `${name} (${status})`);
  const more = services.length - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}

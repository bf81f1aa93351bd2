import type { LookupResult, Source } from "../../domain/mod.ts";
import { type HealthCheck, probe } from "../../integrations/host/mod.ts";
import {
  countOpenBreaks,
  getCmdbSummary,
  getImpact,
  getPlatformCounts,
  getRepairHistory,
  getService,
  getTicket,
  listApprovals,
  listOpenFindings,
  listTicketEvents,
  listTickets,
  type Store,
  type Ticket,
} from "../../store/mod.ts";
import { findReceipt, getHead, verifyStored } from "../../ledger/mod.ts";
import { asProblem } from "../../contract/mod.ts";

type Gave = Omit<LookupResult, "lookup">;
type Ask = (store: Store, of: string) => Promise<Gave>;

const NOTHING: Gave = { says: [], sources: [], data: {} };
/** Services that an answer names one by one. */
const MOST_NAMED = 8;
/** Tickets that an answer tells of one by one. */
const MOST_TICKETS = 5;

/** Read-only tools of the pipeline, by name. Each tells what it has read, and of nothing else. */
export const LOOKUPS: Readonly<Record<string, Ask>> = {
  async service(store, name) {
    const service = await getService(store.asPlatform(), name);
    if (!service) return NOTHING;
    const found = await listOpenFindings(store.asPlatform());
    const its = found.filter((finding) => finding.service === name);
    const state = service.check === null ? undefined : await probe(service.check as HealthCheck);
    const now = !state
      ? "has no health check"
      : state.healthy
      ? `answers its health check just now (${Math.round(state.elapsedMs)} ms)`
      : `fails its health check just now: ${state.code.replaceAll("_", " ")}`;
    return {
      says: [
        `${name} (${service.type}) ${now}.`,
        ...its.map(({ code, first_seen_at, sightings }) =>
          `Open finding ${
            code.replaceAll("_", " ")
          } on ${name}, seen ${sightings} times since ${first_seen_at}.`
        ),
      ],
      sources: [{ id: name, kind: "service", title: `Service ${name}` }],
      data: { health: state?.code ?? null, findings: its.map(({ fingerprint }) => fingerprint) },
    };
  },

  async topology(store, name) {
    const impact = await getImpact(store.asPlatform(), name, 2);
    if (!impact) return NOTHING;
    const { upstream, downstream } = impact;
    const down = upstream.filter(({ status }) => status === "down").map((one) => one.name);
    return {
      says: [
        downstream.length === 0
          ? `Nothing that is known needs ${name}.`
          : `If ${name} fails, this is affected: ${listed(downstream)}.`,
        ...(upstream.length > 0 ? [`${name} needs ${listed(upstream)}.`] : []),
        ...(down.length > 0 ? [`Of what ${name} needs, down: ${down.join(", ")}.`] : []),
      ],
      sources: [{ id: name, kind: "service", title: `Service graph around ${name}` }],
      data: { upstream: upstream.length, downstream: downstream.length, upstream_down: down },
    };
  },

  tickets_of_service: async (store, service) =>
    ticketsSaid(
      await listTickets(store.asPlatform(), { service, limit: MOST_TICKETS }),
      `on ${service}`,
    ),

  async open_tickets(store) {
    const tickets = await listTickets(store.asPlatform(), {
      status: "open",
      limit: 200,
      bySeverity: true,
    });
    if (tickets.length > 0) return ticketsSaid(tickets, "open");
    return { ...NOTHING, says: ["No ticket is open."], sources: [PLATFORM] };
  },

  async ticket(store, id) {
    const ticket = await getTicket(store.asPlatform(), id);
    if (!ticket) return NOTHING;
    const events = await listTicketEvents(store.asPlatform(), id);
    const kinds = events.map(({ kind }) => kind.replaceAll("_", " "));
    const said = ticketsSaid([ticket], "");
    return {
      ...said,
      says: [...said.says, `What happened to ${id}: ${kinds.join(" → ") || "nothing yet"}.`],
      data: { ...said.data, events: kinds.length },
    };
  },

  async receipt(store, id) {
    const receipt = await findReceipt(store, id).catch((error) => {
      if (asProblem(error).rule.status < 500) return undefined;
      throw error;
    });
    if (!receipt) return NOTHING;
    const { verified, checks } = await verifyStored(store, receipt);
    const failed = Object.entries(checks).filter(([, how]) => how === "fail").map(([name]) => name);
    return {
      says: [
        `Receipt ${receipt.id} is at position ${receipt.position} of the ledger and ` +
        (verified ? "verifies." : `does not verify: ${failed.join(", ")}.`),
      ],
      sources: [{
        id: receipt.id,
        kind: "receipt",
        title: `Receipt at position ${receipt.position}`,
        sha256: receipt.hash,
      }],
      data: { position: receipt.position, verified },
    };
  },

  async ledger(store) {
    const [{ size }, { breaks, first }] = await Promise.all([
      getHead(store),
      countOpenBreaks(store.asPlatform()),
    ]);
    return {
      says: [
        `The ledger has ${size} receipts; ` +
        (breaks === 0
          ? "the scrub knows of no break."
          : `the scrub knows of ${breaks} breaks, the first at position ${first}.`),
      ],
      sources: [PLATFORM],
      data: { receipts: size, breaks },
    };
  },

  async platform(store) {
    const { tickets, services, pending_approvals } = await getPlatformCounts(store.asPlatform());
    const health = Object.entries(services).map(([status, n]) => `${n} ${status}`).join(", ");
    return {
      says: [
        `Services: ${health || "none are known"}.`,
        `Tickets: ${tickets.open} open (${tickets.escalated} with people), ${tickets.resolved} resolved.`,
        `${pending_approvals} approvals wait for people.`,
      ],
      sources: [PLATFORM],
      data: { tickets, services, pending_approvals },
    };
  },

  async approvals(store) {
    const waiting = await listApprovals(store.asPlatform(), { status: "pending", limit: 20 });
    return {
      says: waiting.length === 0
        ? ["No approval waits for people."]
        : waiting.map(({ id, subject, askedAt }) =>
          `Approval ${id} on ${subject} waits since ${askedAt}.`
        ),
      sources: waiting.length === 0
        ? [PLATFORM]
        : waiting.map(({ id }) => ({ id, kind: "approval" as const, title: `Approval ${id}` })),
      data: { pending: waiting.length },
    };
  },

  async services(store) {
    const { services, edges, by_status } = await getCmdbSummary(store.asPlatform());
    const how = Object.entries(by_status).map(([status, n]) => `${n} ${status}`).join(", ");
    return {
      says: [`The service graph has ${services} services (${how || "none"}) and ${edges} edges.`],
      sources: [PLATFORM],
      data: { services, edges, by_status },
    };
  },

  async repairs(store, service) {
    const { remediations } = await getRepairHistory(store.asPlatform(), {
      ...(service ? { service } : {}),
      limit: MOST_TICKETS,
    });
    return {
      says: remediations.length === 0
        ? [`No repair ${service ? `of ${service} ` : ""}is on record.`]
        : remediations.map((repair) =>
          `Repair ${
            repair.runbook ?? "restart"
          } of ${repair.service} on ${repair.ticket_id}: ${repair.state}.`
        ),
      sources: remediations.length === 0 ? [PLATFORM] : remediations.map(({ ticket_id }) => ({
        id: ticket_id,
        kind: "ticket" as const,
        title: `Ticket ${ticket_id}`,
      })),
      data: { repairs: remediations.length },
    };
  },
};

/** Those that a model may choose from, where the rules find nothing that a prompt names. */
export const LOOKUP_CHOICES: readonly {
  readonly name: string;
  readonly about: string;
  readonly of_service: boolean;
}[] = [
  { name: "service", about: "Whether it is healthy, and what was found on it", of_service: true },
  { name: "topology", about: "What needs it, and what it needs", of_service: true },
  { name: "tickets_of_service", about: "Tickets", of_service: true },
  { name: "repairs", about: "The newest repairs", of_service: false },
  { name: "open_tickets", about: "Open tickets, the gravest first", of_service: false },
  { name: "platform", about: "Health of all services, tickets, approvals", of_service: false },
  { name: "approvals", about: "Approvals that wait for people", of_service: false },
  { name: "services", about: "How many services are known, and how they are", of_service: false },
  { name: "ledger", about: "Number of receipts, and whether the chain holds", of_service: false },
];

const PLATFORM: Source = { id: "platform", kind: "platform", title: "The platform's own records" };

function listed(services: readonly { readonly name: string; readonly status: string }[]): string {
  const named = services.slice(0, MOST_NAMED).map(({ name, status }) => `${name} (${status})`);
  const more = services.length - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}

function ticketsSaid(tickets: readonly Ticket[], which: string): Gave {
  const told = tickets.slice(0, MOST_TICKETS);
  const more = tickets.length - told.length;
  return {
    says: [
      ...told.map(({ ticket_id, severity, status, phase, title, receipt_id, escalated }) =>
        `${ticket_id} (${severity}, ${status}, ${phase}${
          escalated ? ", with people" : ""
        }): ${title}` +
        (receipt_id ? `; sealed as ${receipt_id}.` : ".")
      ),
      ...(more > 0 ? [`${more} more tickets are ${which}.`] : []),
    ],
    sources: told.map(({ ticket_id, title }) => ({ id: ticket_id, kind: "ticket", title })),
    data: { tickets: tickets.length },
  };
}

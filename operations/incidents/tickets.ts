import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { composedText } from "../../contract/mod.ts";
import { OBSERVATION_SOURCES } from "../../contract/domain/mod.ts";
import {
  draftPostmortem,
  embeddedReceipt,
  readFacts,
  requireTicket,
  tellStory,
} from "./tickets/mod.ts";
import { listObservations, listTicketEvents, listTickets } from "../../store/incidents/mod.ts";
import {
  exampleTicket,
  Limit,
  Severity,
  Since,
  Ticket,
  TicketEvent,
  TicketId,
  TicketStatus,
  TicketWithReceipt,
} from "../schemas/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../scopes.ts";
import { tellEvents, tellIncident, tellTickets, tellTicketWithReceipt } from "./_tell.ts";

/** Open tickets that are listed. */
const MAX_OPEN = 200;

/** An observation that was made before a fault was judged. */
export const Observation = z.object({
  number: z.number().int().min(1).describe("By which events and receipts name it"),
  round: z.number().int().min(1),
  source: z.enum(OBSERVATION_SOURCES),
  code: z.string().describe(
    "What was seen; not_had: the source could not look, and `reason` has why",
  ),
  says: z.string(),
  text: z.string().optional().describe("Words that programs wrote, without secrets"),
  figures: z.record(z.string(), z.unknown()).optional(),
}).meta({ id: "Observation" });

const Status = TicketStatus.optional().describe("Only tickets with this status; default: all");

/** Tickets that match, newest first. */
export const ticketList = operation({
  name: "tickets.list",
  group: "itsm",
  summary: "List tickets, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    status: Status,
    severity: Severity.optional(),
    category: z.string().min(1).max(40).optional().describe(
      "Only tickets of this category: network, database, …",
    ),
    service: z.string().min(1).max(100).optional().describe("Only tickets about this service"),
    escalated: z.boolean().optional().describe(
      "true: only tickets that wait for people; false: only the others",
    ),
    since: Since.describe("Only tickets opened from this time on"),
    limit: Limit,
  }),
  output: z.object({ tickets: z.array(Ticket) }),
  rest: { itsm_incidents: "GET /v1/itsm/incidents" },
  tool: { itsm_list_tickets: FULL },
  presentation: {
    tell: ({ tickets }) => tellTickets(tickets, "tickets match, newest first"),
    toolText: {
      itsm_list_tickets:
        "Filters by status, severity, category, service and time; itsm_list_open_incidents has what is open now.",
    },
    resource: { "sealoop://tickets": FULL },
    untrusted: true,
  },
  example: { input: { status: "resolved" }, output: { tickets: [exampleTicket] } },
  run: async ({ since, ...filter }, { store }) => ({
    tickets: await listTickets(store.db, {
      ...filter,
      since: since ? new Date(since) : undefined,
    }),
  }),
});

/** Open tickets by urgency. */
export const openTickets = operation({
  name: "tickets.open",
  group: "itsm",
  summary: "List open tickets, the most severe first",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    tickets: z.array(Ticket).describe(
      `Up to ${MAX_OPEN}; the newest first among those of the same severity`,
    ),
  }),
  tool: { itsm_list_open_incidents: FULL },
  presentation: {
    tell: ({ tickets }) => tellTickets(tickets, "open incidents, the most severe first"),
    toolText: {
      itsm_list_open_incidents: "For the question what is broken now, and what waits for people.",
    },
    resource: { "sealoop://incidents": FULL },
    untrusted: true,
  },
  example: {
    input: {},
    output: {
      tickets: [{
        ...exampleTicket,
        status: "open",
        phase: "diagnosed",
        escalated: true,
        resolved_at: null,
      }],
    },
  },
  run: async (_, { store }) => ({
    tickets: await listTickets(store.db, {
      status: "open",
      limit: MAX_OPEN,
      bySeverity: true,
    }),
  }),
});

/** Newest incidents. */
export const recentIncidents = operation({
  name: "incidents.recent",
  group: "platform",
  summary: "List the newest incidents, open and resolved",
  effect: "read",
  access: "key",
  input: z.object({ status: Status, limit: Limit }),
  output: z.object({ incidents: z.array(Ticket) }),
  tool: { list_recent_incidents: FULL, "mission.list_incidents": FULL_AND_AUDIT },
  presentation: {
    tell: ({ incidents }) => tellTickets(incidents, "newest incidents"),
    toolText: {
      list_recent_incidents:
        "For what failed lately, such as last night: its ids are what get_incident_details takes to tell why, what was repaired, and who approved that.",
      "mission.list_incidents": "The same as list_recent_incidents, for auditors' keys.",
    },
    toolGroup: { "mission.list_incidents": "audit" },
    untrusted: true,
  },
  example: { input: { limit: 5 }, output: { incidents: [exampleTicket] } },
  run: async ({ status, limit }, { store }) => ({
    incidents: await listTickets(store.db, { ...(status ? { status } : {}), limit }),
  }),
});

/** One ticket with its receipt. */
export const ticket = operation({
  name: "tickets.read",
  group: "itsm",
  summary: "Get a ticket with its receipt, and on request a draft of its postmortem",
  effect: "read",
  access: "key",
  input: z.object({
    ticket_id: TicketId,
    postmortem: z.boolean().default(false).describe(
      "true: with a draft of the postmortem in Markdown: cause, timeline, actions, receipts",
    ),
  }),
  output: TicketWithReceipt.extend({
    observations: z.array(Observation).describe("What was seen before the fault was judged"),
    postmortem: composedText.nullable().describe("Markdown; null: it was not requested"),
  }),
  rest: { itsm_ticket: "GET /v1/itsm/tickets/{ticket_id}" },
  tool: { itsm_get_ticket: FULL },
  presentation: {
    tell: tellTicketWithReceipt,
    toolText: {
      itsm_get_ticket:
        "For its fields and its postmortem; why it happened, and who decided, get_incident_details tells.",
    },
    resource: { "sealoop://tickets/{ticket_id}": FULL },
    untrusted: true,
    errors: ["NotFound"],
  },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      ...exampleTicket,
      receipt: { id: exampleTicket.receipt_id, category: "self_heal", outcome: "sealed" },
      observations: [{
        number: 1,
        round: 1,
        source: "check",
        code: "no_answer",
        says: "It gives no answer after 3 ms: econnrefused.",
        figures: { reason: "econnrefused", elapsed_ms: 3 },
      }],
      postmortem: null,
    },
  },
  run: async ({ ticket_id, postmortem }, { store, urls }) => {
    const ticket = await requireTicket(store, ticket_id);
    return {
      ...ticket,
      receipt: await embeddedReceipt(store, ticket),
      observations: await listObservations(store.db, ticket_id),
      postmortem: postmortem ? await draftPostmortem(store, ticket, urls.ledger) : null,
    };
  },
});

/** One incident with its events and repairs. */
export const incidentDetails = operation({
  name: "incidents.details",
  group: "platform",
  summary: "Get an incident: its ticket, timeline, repairs and receipt",
  effect: "read",
  access: "key",
  input: z.object({ incident_id: TicketId.describe("ticket_id of list_recent_incidents") }),
  output: TicketWithReceipt.extend({
    events: z.array(TicketEvent).describe("Timeline, oldest first"),
    observations: z.array(Observation).describe("What was seen before the fault was judged"),
    repairs: z.array(z.looseObject({ id: z.string(), state: z.string() }))
      .describe("Repairs, oldest first"),
    cause: z.string().nullable().describe("What the last diagnosis names; null: no cause"),
    story: z.array(composedText).describe("The timeline in sentences, Markdown of one line each"),
    done: composedText.describe("Markdown: who allowed what was done, and what it did"),
    dependants: z.array(z.string()).nullable().describe(
      "Services that need the one of the incident; null: the service graph does not have that one",
    ),
    proof_url: z.string().nullable().describe(
      "Where anybody can check the receipt of its end; null: there is none",
    ),
  }),
  tool: { get_incident_details: FULL },
  presentation: {
    tell: tellIncident,
    toolText: {
      get_incident_details:
        "For why a service failed, what was done about it, who approved that, and where the proof is.",
    },
    untrusted: true,
    errors: ["NotFound"],
  },
  example: {
    input: { incident_id: exampleTicket.ticket_id },
    output: {
      ...exampleTicket,
      receipt: null,
      events: [],
      observations: [],
      repairs: [],
      cause: "Its process has ended",
      story: ["The ticket was opened."],
      done: "The platform restarted the service, and it was healthy afterwards.",
      dependants: ["orders"],
      proof_url: "http://127.0.0.1:8082/receipt/9f2c4b7a01d3e856",
    },
  },
  run: async ({ incident_id }, { store, urls }) => {
    const ticket = await requireTicket(store, incident_id);
    const [facts, observations] = await Promise.all([
      readFacts(store, ticket, urls.ledger),
      listObservations(store.db, incident_id),
    ]);
    const { events, causes, done, dependants, repairs } = tellStory(facts);
    const { receipt_id } = ticket;
    const last = causes.at(-1);
    return { // in the order in which a short answer needs them
      ...ticket,
      cause: last && last.cause !== null ? last.says : null,
      done,
      proof_url: receipt_id && `${urls.ledger}/receipt/${encodeURIComponent(receipt_id)}`,
      dependants: dependants === null ? null : [...dependants],
      story: events.map(({ says }) => says),
      observations,
      events: facts.events.map((event) => ({ ...event, phase: event.phase ?? null })),
      repairs: repairs.map((repair) => ({ ...repair })),
      receipt: facts.receipt,
    };
  },
});

/** Timeline of one ticket. */
export const ticketTimeline = operation({
  name: "tickets.timeline",
  group: "itsm",
  summary: "Get the timeline of a ticket, oldest event first",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: z.object({ ticket_id: TicketId, events: z.array(TicketEvent) }),
  rest: { itsm_ticket_timeline: "GET /v1/itsm/tickets/{ticket_id}/timeline" },
  tool: { itsm_get_incident_timeline: FULL },
  presentation: {
    tell: ({ events }) => tellEvents(events),
    toolText: {
      itsm_get_incident_timeline:
        "Codes and counts of each event; get_incident_details tells the same in sentences.",
    },
    resource: { "sealoop://incidents/{ticket_id}": FULL },
    untrusted: true,
    errors: ["NotFound"],
  },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      ticket_id: exampleTicket.ticket_id,
      events: [
        { at: "2026-07-01T12:00:00.000Z", kind: "opened", phase: "ticketed", data: {} },
        {
          at: "2026-07-01T12:00:00.120Z",
          kind: "diagnosed",
          phase: "diagnosed",
          data: { round: 1, symptom: "refused", cause: null },
        },
      ],
    },
  },
  run: async ({ ticket_id }, { store }) => {
    await requireTicket(store, ticket_id);
    return { ticket_id, events: await listTicketEvents(store.db, ticket_id) };
  },
});

import { z } from "zod";
import { listRepairsOfTicket, listTicketEvents, listTickets } from "../../store/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../_audience.ts";
import {
  exampleTicket,
  existingTicket,
  receiptOf,
  TicketId,
  TicketShape,
  TicketStatus,
  TicketWithReceipt,
} from "../_ticket_shapes.ts";
import { Limit, Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

const group = "platform";

/** Lists incidents, open and ended ones. */
export const recentIncidents = operation({
  name: "incidents.recent",
  group,
  summary: "List the newest incidents, open and resolved, each with the receipt that it ended with",
  effect: "read",
  access: "key",
  untrusted: true,
  input: z.object({
    status: TicketStatus.optional().describe("Left out: both"),
    limit: Limit,
  }),
  output: z.object({ incidents: z.array(TicketShape) }),
  tool: { list_recent_incidents: FULL, "mission.list_incidents": FULL_AND_AUDIT },
  toolGroup: { "mission.list_incidents": "audit" },
  example: { input: { limit: 5 }, output: { incidents: [exampleTicket] } },
  run: async ({ status, limit }, { store }) => ({
    incidents: await listTickets(store.asPlatform(), { ...(status ? { status } : {}), limit }),
  }),
});

/** Reads one incident with all that belongs to it. */
export const incidentDetails = operation({
  name: "incidents.details",
  group,
  summary: "Read an incident: its ticket, what happened, what was repaired, and its receipt",
  effect: "read",
  access: "key",
  untrusted: true,
  input: z.object({ incident_id: TicketId.describe("As list_recent_incidents gives it") }),
  output: TicketWithReceipt.extend({
    events: z.array(z.object({
      at: Timestamp,
      kind: z.string(),
      phase: z.string().nullable(),
      data: z.record(z.string(), z.unknown()),
    })).describe("What happened to it, oldest first"),
    repairs: z.array(z.looseObject({ id: z.string(), state: z.string() }))
      .describe("What was done about it, oldest first"),
  }),
  tool: { get_incident_details: FULL },
  errors: ["NotFound"],
  example: {
    input: { incident_id: exampleTicket.ticket_id },
    output: { ...exampleTicket, receipt: null, events: [], repairs: [] },
  },
  run: async ({ incident_id }, { store }) => {
    const ticket = await existingTicket(store, incident_id);
    const [receipt, events, repairs] = await Promise.all([
      receiptOf(store, ticket.receipt_id),
      listTicketEvents(store.asPlatform(), incident_id),
      listRepairsOfTicket(store.asPlatform(), incident_id),
    ]);
    return { ...ticket, receipt, events, repairs: repairs.map((repair) => ({ ...repair })) };
  },
});

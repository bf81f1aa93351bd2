import { z } from "zod";
import { listTicketEvents, listTickets } from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { exampleTicket, existingTicket, TicketId, TicketShape } from "../_ticket_shapes.ts";
import { Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

/** Most open tickets that are given. */
const MOST_OPEN = 200;

/** Open tickets by urgency. */
export const openIncidents = operation({
  name: "tickets.open",
  group: "itsm",
  summary: "List open tickets, the most severe first",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    tickets: z.array(TicketShape).describe(
      `At most ${MOST_OPEN}; of the same severity the newest first`,
    ),
  }),
  tool: { itsm_list_open_incidents: FULL },
  resource: { "sealoop://incidents": FULL },
  untrusted: true,
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
    tickets: await listTickets(store.asPlatform(), {
      status: "open",
      limit: MOST_OPEN,
      bySeverity: true,
    }),
  }),
});

/** What happened to a ticket. */
export const incidentTimeline = operation({
  name: "tickets.timeline",
  group: "itsm",
  summary: "Read what happened to a ticket, oldest first",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: z.object({
    ticket_id: TicketId,
    events: z.array(z.object({
      at: Timestamp,
      kind: z.string().describe(
        "detected, opened, taken_over, diagnosed, approval_requested, approval_approved, intended, remediated, verified, " +
          "resolved, escalated, …",
      ),
      phase: z.string().nullable().describe("The step of the loop that it reached by this"),
      data: z.record(z.string(), z.unknown()).describe(
        "Ids, codes and counts; receipt_id where it is sealed",
      ),
    })),
  }),
  rest: { itsm_ticket_timeline: "GET /v1/itsm/tickets/{ticket_id}/timeline" },
  tool: { itsm_get_incident_timeline: FULL },
  resource: { "sealoop://incidents/{ticket_id}": FULL },
  untrusted: true,
  errors: ["NotFound"],
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
          data: { round: 1, cause: "refused" },
        },
      ],
    },
  },
  run: async ({ ticket_id }, { store }) => {
    await existingTicket(store, ticket_id);
    return { ticket_id, events: await listTicketEvents(store.asPlatform(), ticket_id) };
  },
});

import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { searchTickets } from "../../store/incidents/mod.ts";
import {
  exampleTicket,
  Limit,
  Severity,
  Since,
  Ticket,
  TicketId,
  TicketStatus,
} from "../schemas/mod.ts";
import { requireTicket } from "./tickets/mod.ts";

const MAX_WORDS = 10;

/** A page of the tickets that match. */
export const ticketSearch = operation({
  name: "tickets.search",
  group: "console",
  extension: true,
  summary: "Search tickets by their fields and words, a page at a time, newest first",
  description:
    "A page begins at a ticket and not at a number, so that it is as quick at the end of a long list as at its beginning, " +
    "and a ticket that is opened meanwhile moves nothing.",
  effect: "read",
  access: "key",
  input: z.object({
    query: z.string().max(200).optional().describe(
      `Words that must all occur in the title, the description, the service or the id; any case; at most ${MAX_WORDS}`,
    ),
    status: TicketStatus.optional().describe("Only tickets in this state"),
    severity: Severity.optional(),
    category: z.string().min(1).max(40).optional().describe("Only tickets of this category"),
    service: z.string().min(1).max(100).optional().describe("Only tickets about this service"),
    escalated: z.boolean().optional().describe("true: only tickets that wait for people"),
    since: Since.describe("Only tickets opened from this time on"),
    until: Since.describe("Only tickets opened before this time"),
    older_than: TicketId.optional().describe("The page after the one that ends with this ticket"),
    newer_than: TicketId.optional().describe(
      "The page before the one that begins with this ticket; `older_than` does not count then",
    ),
    limit: Limit,
  }),
  output: z.object({
    tickets: z.array(Ticket),
    older: TicketId.nullable().describe("`older_than` of the next page; null: this is the last"),
    newer: TicketId.nullable().describe(
      "`newer_than` of the page before; null: this is the first",
    ),
  }),
  rest: { tickets_search: "GET /v1/itsm/incidents/search" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  example: {
    input: { query: "billing refused", status: "resolved" },
    output: { tickets: [exampleTicket], older: null, newer: null },
  },
  async run(
    { query = "", since, until, older_than: older, newer_than: newer, limit, ...fields },
    { store },
  ) {
    const place = newer ? { newerThan: newer } : older ? { olderThan: older } : {};
    const start = newer ?? older;
    if (start !== undefined) await requireTicket(store, start);
    const found = await searchTickets(store.db, {
      ...fields,
      since: since ? new Date(since) : undefined,
      until: until ? new Date(until) : undefined,
      words: query.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS),
      ...place,
      limit: limit + 1,
    });
    const hasMore = found.length > limit;
    const tickets = found.slice(0, limit);
    if (newer) tickets.reverse();
    return {
      tickets,
      older: (newer || hasMore) ? tickets.at(-1)?.ticket_id ?? null : null,
      newer: (newer ? hasMore : older !== undefined) ? tickets[0]?.ticket_id ?? null : null,
    };
  },
});

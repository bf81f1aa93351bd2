import { randomBytes } from "node:crypto";
import { z } from "zod";
import { Problem } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addTicketEvent,
  getTicket,
  listTickets,
  noteCallEffects,
  openTicket,
  resolveTicket,
} from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { draftOf } from "./_postmortem_draft.ts";
import {
  exampleTicket,
  existingTicket,
  receiptOf,
  Severity,
  Since,
  TicketId,
  TicketShape,
  TicketStatus,
  TicketWithReceipt,
} from "../_ticket_shapes.ts";
import { Limit } from "../_shapes.ts";
import { idOfCall, recoverNoted } from "../../calls/recover/mod.ts";
import { operation } from "../../calls/mod.ts";

const common = { group: "itsm" } as const;

const ticketOf = (decisionId: string | undefined) => `INC-${idOfCall(decisionId, 12)}`;

/** Opens a ticket for people. */
export const createTicket = operation({
  ...common,
  name: "tickets.create",
  summary: "Open a ticket for people to work on",
  description:
    "Nothing is repaired by it: to have a fault looked into and repaired, run the loop. Its text stays private; " +
    "that it was opened is sealed.",
  effect: "run",
  hints: { destructive: false },
  access: "key",
  sealsItself: true,
  input: z.object({
    title: z.string().trim().min(1).max(200).describe("What is wrong, in a line"),
    description: z.string().max(4000).default("").describe(
      "Kept privately; the receipt has a commitment to it",
    ),
    severity: Severity.default("medium"),
  }),
  output: TicketShape,
  rest: { itsm_ticket_create: "POST /v1/itsm/tickets" },
  tool: { itsm_create_ticket: FULL },
  example: {
    input: { title: "Printer on floor 3 jams", severity: "low" },
    output: {
      ...exampleTicket,
      title: "Printer on floor 3 jams",
      severity: "low" as const,
      category: null,
      status: "open" as const,
      phase: "ticketed" as const,
      service: null,
      workflow_id: null,
      run_id: null,
      outcome: null,
      resolution: null,
      receipt_id: null,
      resolved_at: null,
    },
  },
  async recover({ decisionId }, { store }) {
    const ticket = await getTicket(store.asPlatform(), ticketOf(decisionId));
    if (!ticket) return { state: "not_done" };
    return { state: "done", ids: { ticket_id: ticket.ticket_id }, output: ticket };
  },
  run: async ({ title, description, severity }, { store, caller, decisionId }) => {
    const id = ticketOf(decisionId);
    await store.asPlatform().transaction(async (trx) => {
      await openTicket(trx, {
        ...{ id, title, description, severity, phase: "ticketed", service: null },
        ...{ fingerprint: null, workflowId: null, runId: null },
        requestedBy: `key:${caller.keyId}`,
      });
      await addTicketEvent(trx, id, { key: "opened", kind: "opened", phase: "ticketed" });
      await requestSeal(trx, {
        category: "ticket_opened",
        actor: `key:${caller.keyId}`,
        subject: id,
        action: "tickets.create",
        outcome: "open",
        details: { severity },
        evidence: { title, description },
      });
    });
    return await existingTicket(store, id);
  },
});

/** A ticket with its receipt. */
export const readTicket = operation({
  ...common,
  name: "tickets.read",
  summary: "Read a ticket, with its receipt once that is sealed",
  effect: "read",
  access: "key",
  input: z.object({
    ticket_id: TicketId,
    postmortem: z.boolean().default(false).describe(
      "With a draft of the postmortem in Markdown: timeline, cause, what was done, receipts",
    ),
  }),
  output: TicketWithReceipt.extend({
    postmortem: z.string().nullable().describe("Markdown; null where it was not asked for"),
  }),
  rest: { itsm_ticket: "GET /v1/itsm/tickets/{ticket_id}" },
  tool: { itsm_get_ticket: FULL },
  resource: { "sealoop://tickets/{ticket_id}": FULL },
  untrusted: true,
  errors: ["NotFound"],
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      ...exampleTicket,
      receipt: { id: exampleTicket.receipt_id, category: "self_heal", outcome: "sealed" },
      postmortem: null,
    },
  },
  run: async ({ ticket_id, postmortem }, { store, urls }) => {
    const ticket = await existingTicket(store, ticket_id);
    const receipt = await receiptOf(store, ticket.receipt_id);
    if (!postmortem) return { ...ticket, receipt, postmortem: null };
    return { ...ticket, receipt, postmortem: await draftOf(ticket, { store, urls }) };
  },
});

/** Tickets by time. */
export const ticketList = operation({
  ...common,
  name: "tickets.list",
  summary: "List tickets, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    status: TicketStatus.optional().describe("Only those of this status"),
    severity: Severity.optional(),
    category: z.string().min(1).max(40).optional().describe(
      "Only those of this field: network, database, …",
    ),
    service: z.string().min(1).max(100).optional().describe("Only those about this service"),
    escalated: z.boolean().optional().describe("Only those that wait for people, or that do not"),
    since: Since.describe("Only those opened since"),
    limit: Limit,
  }),
  output: z.object({ tickets: z.array(TicketShape) }),
  rest: { itsm_incidents: "GET /v1/itsm/incidents" },
  tool: { itsm_list_tickets: FULL },
  resource: { "sealoop://tickets": FULL },
  untrusted: true,
  example: { input: { status: "resolved" }, output: { tickets: [exampleTicket] } },
  run: async ({ since, ...filter }, { store }) => ({
    tickets: await listTickets(store.asPlatform(), {
      ...filter,
      since: since ? new Date(since) : undefined,
    }),
  }),
});

/** Resolves a ticket by somebody's word. */
export const closeTicket = operation({
  ...common,
  name: "tickets.close",
  summary: "Resolve an open ticket with a resolution note",
  description:
    "A loop that is at it finds its ticket closed, does nothing more to the service, and seals so. Over REST the note " +
    "is taken for a person's word, and is published for ever: in the public receipt's `human_input`. Of an agent's, " +
    "over MCP or A2A, the receipt has a commitment, and the text stays private.",
  effect: "run",
  access: "partner",
  sealsItself: true,
  input: z.object({
    ticket_id: TicketId,
    resolution: z.string().trim().min(1).max(4000)
      .describe(
        "Over REST it is published for ever with the receipt: write nothing in it that must stay private",
      ),
  }),
  output: TicketShape,
  rest: { itsm_ticket_close: "POST /v1/itsm/tickets/{ticket_id}/close" },
  tool: { itsm_close_ticket: FULL },
  untrusted: true,
  errors: ["NotFound", "Conflict"],
  example: {
    input: { ticket_id: exampleTicket.ticket_id, resolution: "Replaced the roller" },
    output: { ...exampleTicket, outcome: "resolved", resolution: "Replaced the roller" },
  },
  recover: (call, platform) =>
    recoverNoted(platform, call, ({ ids }) => existingTicket(platform.store, ids.ticket_id!)),
  run: async ({ ticket_id, resolution }, { store, caller, door, decisionId }) => {
    const isPublic = door === "rest"; // agents call by the other doors
    const byPerson = isPublic && caller.mayApprove; // no agent can use such a key; other keys may be anybody's
    const ticket = await existingTicket(store, ticket_id);
    await store.asPlatform().transaction(async (trx) => {
      const receiptId = randomBytes(8).toString("hex");
      const end = { outcome: "resolved", resolution, receiptId };
      if (!await resolveTicket(trx, ticket_id, end)) {
        throw new Problem(
          "Conflict",
          `Ticket ${ticket_id} is ${ticket.status}, and only an open one can be closed`,
        );
      }
      await addTicketEvent(trx, ticket_id, {
        key: "resolved",
        kind: "resolved",
        phase: "sealed",
        data: { receipt_id: receiptId, ...(byPerson ? { by: "person" } : {}) },
      });
      await requestSeal(trx, {
        id: receiptId,
        category: "ticket_closed",
        actor: `key:${caller.keyId}`,
        subject: ticket_id,
        action: "tickets.close",
        outcome: "resolved",
        ...(isPublic ? { human_input: resolution } : { evidence: { resolution } }),
      });
      await noteCallEffects(trx, decisionId, { ticket_id });
    });
    return await existingTicket(store, ticket_id);
  },
});

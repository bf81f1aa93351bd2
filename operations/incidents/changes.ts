import { randomBytes } from "node:crypto";
import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { requireTicket } from "./tickets/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { addTicketEvent, openTicket, resolveTicket } from "../../store/incidents/mod.ts";
import { exampleTicket, Severity, tellTicket, Ticket, TicketId } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Opens a ticket for people. */
export const createTicket = operation({
  name: "tickets.create",
  group: "itsm",
  summary: "Open a ticket for people to work on",
  description:
    "Repairs nothing: to have a fault examined and repaired, run the loop. The text of the ticket stays private; the fact " +
    "that it was opened is sealed.",
  effect: "run",
  access: "key",
  input: z.object({
    title: z.string().trim().min(1).max(200).describe("What is wrong, one line"),
    description: z.string().max(4000).default("").describe(
      "Stays private; the receipt has a commitment to it",
    ),
    severity: Severity.default("medium"),
  }),
  output: Ticket,
  rest: { itsm_ticket_create: "POST /v1/itsm/tickets" },
  tool: { itsm_create_ticket: FULL },
  presentation: {
    tell: (ticket) => [tellTicket(ticket)],
    toolText: {
      itsm_create_ticket: "Repairs nothing: itsm_run_loop has a fault examined and repaired.",
    },
    hints: { destructive: false },
  },
  governance: { rule: "tickets-and-loops" },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { title: "Printer on floor 3 jams", severity: "low" },
    output: {
      ...exampleTicket,
      title: "Printer on floor 3 jams",
      severity: "low",
      category: null,
      status: "open",
      phase: "ticketed",
      service: null,
      workflow_id: null,
      run_id: null,
      outcome: null,
      resolution: null,
      receipt_id: null,
      last_good_at: null,
      resolved_at: null,
    },
  },
  run: async ({ title, description, severity }, { caller, decisionId, commit }) => {
    const id = `INC-${idOfCall(decisionId, 12)}`;
    const actor = `key:${caller.keyId}`;
    return await commit(async (trx) => {
      await openTicket(trx, {
        id,
        title,
        description,
        severity,
        phase: "ticketed",
        service: null,
        fingerprint: null,
        workflowId: null,
        runId: null,
        requestedBy: actor,
      });
      await addTicketEvent(trx, id, {
        key: "opened",
        kind: "opened",
        phase: "ticketed",
        by: caller.principal,
      });
      await requestSeal(trx, {
        category: "ticket_opened",
        actor,
        subject: id,
        action: "tickets.create",
        outcome: "open",
        details: { severity },
        evidence: { title, description },
      });
      return await requireTicket({ db: trx }, id);
    });
  },
});

/** Resolves a ticket. */
export const closeTicket = operation({
  name: "tickets.close",
  group: "itsm",
  summary: "Resolve an open ticket with a resolution note",
  description:
    "A loop that works on the ticket notices this, does nothing more to the service, and seals that. Over REST the note " +
    "counts as a person's statement and is published permanently, in the public receipt's `human_input`. A note of an " +
    "agent, over MCP or A2A, stays private; the receipt has a commitment to it.",
  effect: "run",
  access: "partner",
  input: z.object({
    ticket_id: TicketId,
    resolution: z.string().trim().min(1).max(4000).describe(
      "Over REST published permanently with the receipt: write nothing that must stay private",
    ),
  }),
  output: Ticket,
  rest: { itsm_ticket_close: "POST /v1/itsm/tickets/{ticket_id}/close" },
  tool: { itsm_close_ticket: FULL },
  presentation: {
    tell: (ticket) => [tellTicket(ticket)],
    toolText: {
      itsm_close_ticket:
        "A loop that works on it stops and seals that. Your note stays private; the receipt commits to it.",
    },
    untrusted: true,
    errors: ["NotFound", "Conflict"],
  },
  governance: {
    rule: "tickets-and-loops",
    async check({ ticket_id }, { store }) {
      const { status } = await requireTicket(store, ticket_id);
      if (status !== "open") throw notOpen(ticket_id, status);
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { ticket_id: exampleTicket.ticket_id, resolution: "Replaced the roller" },
    output: { ...exampleTicket, outcome: "resolved", resolution: "Replaced the roller" },
  },
  run: async ({ ticket_id, resolution }, { store, caller, door, commit }) => {
    const isPublic = door === "rest"; // agents call through the other interfaces
    const isByPerson = isPublic && caller.mayApprove; // no agent can use such a key; anybody may hold another one
    const { status } = await requireTicket(store, ticket_id);
    return await commit(async (trx) => {
      const receiptId = randomBytes(8).toString("hex");
      if (!await resolveTicket(trx, ticket_id, { outcome: "resolved", resolution, receiptId })) {
        throw notOpen(ticket_id, status);
      }
      await addTicketEvent(trx, ticket_id, {
        key: "resolved",
        kind: "resolved",
        phase: "sealed",
        by: caller.principal,
        data: { receipt_id: receiptId, ...(isByPerson ? { by: "person" } : {}) },
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
      return await requireTicket({ db: trx }, ticket_id);
    });
  },
});

function notOpen(ticketId: string, status: string): Problem {
  return new Problem(
    "Conflict",
    `Cannot close ${ticketId}: it is ${status}, and only an open ticket can be closed`,
  );
}

import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  checkTicketReceipt,
  isReceiptAbout,
  requireTicket,
  setTicketReceipt,
} from "./tickets/mod.ts";
import { findReceipt, verifyStored } from "../../ledger/mod.ts";
import {
  Check,
  Checks,
  exampleTicket,
  exampleVerifiedReceipt,
  ReceiptId,
  tellTicket,
  tellVerified,
  TicketId,
  TicketWithReceipt,
  toVerifiedReceipt,
  VerifiedReceipt,
} from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Embeds a receipt in a ticket. */
export const embedReceipt = operation({
  name: "tickets.embed_receipt",
  group: "itsm",
  summary: "Embed in a ticket a sealed receipt that is about it",
  description:
    "The receipt's subject or details must name the ticket. It replaces a receipt that was embedded before, but not the " +
    "one that the platform sealed when the ticket was closed or escalated. The receipts themselves do not change.",
  effect: "run",
  access: "partner",
  input: z.object({ ticket_id: TicketId, receipt_id: ReceiptId }),
  output: TicketWithReceipt,
  rest: { itsm_ticket_embed_receipt: "POST /v1/itsm/tickets/{ticket_id}/receipt" },
  tool: { itsm_embed_receipt: FULL },
  presentation: {
    tell: (ticket) => [tellTicket(ticket)],
    toolText: {
      itsm_embed_receipt:
        "The receipt has to name the ticket. It replaces one that was embedded before, but not the platform's own of the ticket's end.",
    },
    hints: { idempotent: true },
    untrusted: true,
    errors: ["NotFound", "ReceiptNotFound", "AmbiguousReceipt", "Conflict", "Unavailable"],
  },
  governance: {
    rule: "tickets-and-loops",
    async check({ ticket_id, receipt_id }, { store }) {
      const ticket = await requireTicket(store, ticket_id);
      await checkTicketReceipt(store.db, ticket, await findReceipt(store, receipt_id));
    },
  },
  durability: {
    commits: true,
  },
  example: {
    input: { ticket_id: exampleTicket.ticket_id, receipt_id: exampleTicket.receipt_id },
    output: {
      ...exampleTicket,
      receipt: { id: exampleTicket.receipt_id, category: "self_heal", outcome: "sealed" },
    },
  },
  run: async ({ ticket_id, receipt_id }, { store, commit }) => {
    const ticket = await requireTicket(store, ticket_id);
    const receipt = await findReceipt(store, receipt_id);
    return await commit(async (trx) => {
      await setTicketReceipt(trx, ticket, receipt);
      return { ...await requireTicket({ db: trx }, ticket_id), receipt: JSON.parse(receipt.text) };
    });
  },
});

/** Verification of the receipt of a ticket. */
export const ticketVerification = operation({
  name: "tickets.verify_receipt",
  group: "itsm",
  summary: "Verify the receipt of a ticket, and that the receipt is about the ticket",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: VerifiedReceipt.extend({
    ticket_id: TicketId,
    verified: z.boolean().describe("True: no check failed"),
    checks: Checks.extend({
      ticket: Check.describe("Whether the receipt's subject or details name the ticket"),
    }),
  }),
  rest: { itsm_ticket_verify_receipt: "GET /v1/itsm/tickets/{ticket_id}/verify" },
  tool: { itsm_verify_receipt: FULL },
  presentation: { tell: tellVerified, errors: ["NotFound", "ReceiptNotFound", "Unavailable"] },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      ticket_id: exampleTicket.ticket_id,
      ...exampleVerifiedReceipt,
      checks: { ...exampleVerifiedReceipt.checks, ticket: "pass" },
    },
  },
  run: async ({ ticket_id }, { store, urls }) => {
    const ticket = await requireTicket(store, ticket_id);
    if (!ticket.receipt_id) throw new Problem("NotFound", `Ticket ${ticket_id} has no receipt yet`);
    const receipt = await findReceipt(store, ticket.receipt_id);
    const verdict = await verifyStored(store, receipt);
    const isAbout = isReceiptAbout(receipt, ticket_id);
    return {
      ticket_id,
      ...toVerifiedReceipt(receipt, verdict, urls.ledger),
      verified: verdict.verified && isAbout,
      checks: { ...verdict.checks, ticket: isAbout ? "pass" as const : "fail" as const },
    };
  },
});

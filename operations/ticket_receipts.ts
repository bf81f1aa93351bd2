import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { findReceipt } from "../ledger/mod.ts";
import { addTicketEvent, setTicketReceipt, transaction } from "../store/mod.ts";
import { FULL } from "./_audience.ts";
import { exampleTicket, existingTicket, TicketId, TicketWithReceipt } from "./_ticket_shapes.ts";
import { exampleVerified, verified, VerifiedReceipt } from "./_verified.ts";
import { operation } from "./platform.ts";
import { ReceiptId } from "./_shapes.ts";

/** Names a receipt in a ticket. */
export const embedReceipt = operation({
  name: "tickets.embed_receipt",
  group: "itsm",
  summary: "Embed a sealed receipt in a ticket",
  description: "In place of the one that it has; the receipts themselves stay as they are.",
  effect: "run",
  hints: { idempotent: true },
  access: "partner",
  input: z.object({ ticket_id: TicketId, receipt_id: ReceiptId }),
  output: TicketWithReceipt,
  rest: { itsm_ticket_embed_receipt: "POST /v1/itsm/tickets/{ticket_id}/receipt" },
  tool: { itsm_embed_receipt: FULL },
  untrusted: true,
  errors: ["NotFound", "ReceiptNotFound", "AmbiguousReceipt"],
  example: {
    input: { ticket_id: exampleTicket.ticket_id, receipt_id: exampleTicket.receipt_id },
    output: {
      ...exampleTicket,
      receipt: { id: exampleTicket.receipt_id, category: "self_heal", outcome: "sealed" },
    },
  },
  run: async ({ ticket_id, receipt_id }, { store }) => {
    await existingTicket(store, ticket_id);
    const { id, text } = await findReceipt(store, receipt_id);
    await transaction(store, async (trx) => {
      await setTicketReceipt(trx, ticket_id, id);
      await addTicketEvent(trx, ticket_id, {
        key: `embedded-${id}`,
        kind: "receipt_embedded",
        data: { receipt_id: id },
      });
    });
    return { ...await existingTicket(store, ticket_id), receipt: JSON.parse(text) };
  },
});

/** Verifies the receipt of a ticket. */
export const verifyTicket = operation({
  name: "tickets.verify_receipt",
  group: "itsm",
  summary: "Verify the receipt that is embedded in a ticket: hash, canonical form, signature, link",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: VerifiedReceipt.extend({ ticket_id: TicketId }),
  rest: { itsm_ticket_verify_receipt: "GET /v1/itsm/tickets/{ticket_id}/verify" },
  tool: { itsm_verify_receipt: FULL },
  errors: ["NotFound", "ReceiptNotFound"],
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: { ticket_id: exampleTicket.ticket_id, ...exampleVerified },
  },
  run: async ({ ticket_id }, { store, urls }) => {
    const ticket = await existingTicket(store, ticket_id);
    if (!ticket.receipt_id) throw new Problem("NotFound", `Ticket ${ticket_id} has no receipt yet`);
    const receipt = await findReceipt(store, ticket.receipt_id);
    return { ticket_id, ...await verified(store, receipt, urls.ledger) };
  },
});

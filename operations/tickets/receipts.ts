import { z } from "zod";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { findReceipt, type StoredReceipt } from "../../ledger/mod.ts";
import {
  addTicketEvent,
  getTicketEvent,
  noteCallEffects,
  replaceTicketReceipt,
  type Store,
  type Ticket,
} from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import {
  exampleTicket,
  existingTicket,
  receiptOf,
  TicketId,
  TicketWithReceipt,
} from "../_ticket_shapes.ts";
import { Check, Checks, exampleVerified, verified, VerifiedReceipt } from "../_verified.ts";
import { ReceiptId } from "../_shapes.ts";
import { recoverNoted } from "../../calls/recover/mod.ts";
import { operation } from "../../calls/mod.ts";

/** Names a receipt in a ticket. */
export const embedReceipt = operation({
  name: "tickets.embed_receipt",
  group: "itsm",
  summary: "Embed in a ticket a sealed receipt that is about it",
  description:
    "The receipt's subject or details have to name the ticket. It takes the place of one that was embedded before, " +
    "never of the one that the platform itself has sealed when the ticket was closed or left to people. The receipts " +
    "stay as they are.",
  effect: "run",
  hints: { idempotent: true },
  access: "partner",
  input: z.object({ ticket_id: TicketId, receipt_id: ReceiptId }),
  output: TicketWithReceipt,
  rest: { itsm_ticket_embed_receipt: "POST /v1/itsm/tickets/{ticket_id}/receipt" },
  tool: { itsm_embed_receipt: FULL },
  untrusted: true,
  errors: ["NotFound", "ReceiptNotFound", "AmbiguousReceipt", "Conflict", "Unavailable"],
  example: {
    input: { ticket_id: exampleTicket.ticket_id, receipt_id: exampleTicket.receipt_id },
    output: {
      ...exampleTicket,
      receipt: { id: exampleTicket.receipt_id, category: "self_heal", outcome: "sealed" },
    },
  },
  recover: (call, platform) =>
    recoverNoted(platform, call, ({ ids }) => withReceipt(platform.store, ids.ticket_id!)),
  run: async ({ ticket_id, receipt_id }, { store, decisionId }) => {
    const ticket = await existingTicket(store, ticket_id);
    const receipt = await findReceipt(store, receipt_id);
    if (receipt.id !== ticket.receipt_id) await embed(store, ticket, receipt, decisionId);
    return { ...await existingTicket(store, ticket_id), receipt: JSON.parse(receipt.text) };
  },
});

async function withReceipt(store: Store, ticketId: string) {
  const ticket = await existingTicket(store, ticketId);
  return { ...ticket, receipt: await receiptOf(store, ticket.receipt_id) };
}

async function embed(
  store: Store,
  { ticket_id, receipt_id: now }: Ticket,
  receipt: StoredReceipt,
  decisionId: string | undefined,
) {
  if (!isAbout(receipt, ticket_id)) {
    const msg = `Receipt ${receipt.id} is not about ${ticket_id}: expected one whose subject or ` +
      `details name that ticket`;
    throw new InvalidInput([{ path: ["receipt_id"], msg, type: "value_error" }]);
  }
  await store.asPlatform().transaction(async (trx) => {
    const isOwn = now !== null && !await getTicketEvent(trx, ticket_id, keyOf(now));
    if (isOwn || !await replaceTicketReceipt(trx, ticket_id, receipt.id, now)) {
      throw new Problem(
        "Conflict",
        `Ticket ${ticket_id} has the receipt that the platform sealed of its end, and keeps it`,
      );
    }
    await addTicketEvent(trx, ticket_id, {
      key: keyOf(receipt.id),
      kind: "receipt_embedded",
      data: { receipt_id: receipt.id },
    });
    await noteCallEffects(trx, decisionId, { ticket_id, receipt_id: receipt.id });
  });
}

/** Key of the event that tells that a receipt was embedded; the platform's own receipts have none. */
const keyOf = (receiptId: string) => `embedded-${receiptId}`;

/** Whether a receipt names a ticket: as its subject, or anywhere in its details. */
function isAbout({ text }: StoredReceipt, ticketId: string): boolean {
  const { subject, details } = JSON.parse(text);
  const names = (value: unknown): boolean =>
    value === ticketId ||
    (typeof value === "object" && value !== null && Object.values(value).some(names));
  return names(subject) || names(details);
}

/** Verifies the receipt of a ticket. */
export const verifyTicket = operation({
  name: "tickets.verify_receipt",
  group: "itsm",
  summary:
    "Verify the receipt that is embedded in a ticket: hash, canonical form, signature, link, and that it is about it",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: VerifiedReceipt.extend({
    ticket_id: TicketId,
    verified: z.boolean().describe("Whether no check has failed"),
    checks: Checks.extend({
      ticket: Check.describe("Whether the receipt's subject or details name the ticket"),
    }),
  }),
  rest: { itsm_ticket_verify_receipt: "GET /v1/itsm/tickets/{ticket_id}/verify" },
  tool: { itsm_verify_receipt: FULL },
  errors: ["NotFound", "ReceiptNotFound", "Unavailable"],
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: {
      ticket_id: exampleTicket.ticket_id,
      ...exampleVerified,
      checks: { ...exampleVerified.checks, ticket: "pass" as const },
    },
  },
  run: async ({ ticket_id }, { store, urls }) => {
    const ticket = await existingTicket(store, ticket_id);
    if (!ticket.receipt_id) throw new Problem("NotFound", `Ticket ${ticket_id} has no receipt yet`);
    const receipt = await findReceipt(store, ticket.receipt_id);
    const its = await verified(store, receipt, urls.ledger);
    const about = isAbout(receipt, ticket_id);
    const checks = { ...its.checks, ticket: about ? "pass" as const : "fail" as const };
    return { ticket_id, ...its, verified: its.verified && about, checks };
  },
});

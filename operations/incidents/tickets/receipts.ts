import { InvalidInput, Problem } from "../../../contract/mod.ts";
import type { StoredReceipt } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import {
  addTicketEvent,
  getTicketEvent,
  replaceTicketReceipt,
  type Ticket,
} from "../../../store/incidents/mod.ts";

/**
 * Makes a receipt the one of a ticket. It replaces one that was embedded before, but not the one that the platform sealed when
 * the ticket was closed or escalated.
 *
 * @param trx a transaction
 * @throws {InvalidInput} the receipt is not about the ticket
 * @throws {Problem} `Conflict`: the ticket has a receipt of the platform
 */
export async function setTicketReceipt(
  trx: Db,
  { ticket_id, receipt_id: current }: Ticket,
  receipt: StoredReceipt,
): Promise<void> {
  if (receipt.id === current) return;
  await checkTicketReceipt(trx, { ticket_id, receipt_id: current }, receipt);
  if (!await replaceTicketReceipt(trx, ticket_id, receipt.id, current)) throw keepsOwn(ticket_id);
  await addTicketEvent(trx, ticket_id, {
    key: eventKey(receipt.id),
    kind: "receipt_embedded",
    data: { receipt_id: receipt.id },
  });
}

/** Refuses a receipt that can't be the one of a ticket. @throws as {@linkcode setTicketReceipt} */
export async function checkTicketReceipt(
  db: Db,
  { ticket_id, receipt_id: current }: Pick<Ticket, "ticket_id" | "receipt_id">,
  receipt: StoredReceipt,
): Promise<void> {
  if (receipt.id === current) return;
  if (!isReceiptAbout(receipt, ticket_id)) {
    const msg = `Receipt ${receipt.id} is not about ${ticket_id}: expected one whose subject or ` +
      `details name that ticket`;
    throw new InvalidInput([{ path: ["receipt_id"], msg, type: "value_error" }]);
  }
  if (current !== null && !await getTicketEvent(db, ticket_id, eventKey(current))) {
    throw keepsOwn(ticket_id);
  }
}

function keepsOwn(ticketId: string): Problem {
  return new Problem(
    "Conflict",
    `Cannot embed a receipt in ${ticketId}: it has the receipt that the platform sealed when the ticket was ` +
      "closed or escalated, and keeps it",
  );
}

/** Returns whether a receipt names a ticket, as its subject or anywhere in its details. */
export function isReceiptAbout({ text }: StoredReceipt, ticketId: string): boolean {
  const { subject, details } = JSON.parse(text);
  const names = (value: unknown): boolean =>
    value === ticketId ||
    (typeof value === "object" && value !== null && Object.values(value).some(names));
  return names(subject) || names(details);
}

/** Returns the key of the event of an embedded receipt. A receipt of the platform has no such event. */
function eventKey(receiptId: string): string {
  return `embedded-${receiptId}`;
}

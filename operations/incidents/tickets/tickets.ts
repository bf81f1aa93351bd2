import { unknownRecord } from "../../../calls/mod.ts";
import { getReceipt } from "../../../ledger/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { getTicket, type Ticket } from "../../../store/incidents/mod.ts";

/** Returns a ticket. @throws {Problem} `NotFound` */
export async function requireTicket(store: Pick<Store, "db">, id: string): Promise<Ticket> {
  const ticket = await getTicket(store.db, id);
  if (ticket) return ticket;
  throw await unknownRecord(store.db, "ticket", id, "GET /v1/itsm/incidents lists them");
}

/** Returns the receipt that a ticket names; null: it names none, or the receipt is not sealed yet. */
export async function embeddedReceipt(
  store: Store,
  { receipt_id }: Pick<Ticket, "receipt_id">,
): Promise<Record<string, unknown> | null> {
  const receipt = receipt_id === null ? undefined : await getReceipt(store, receipt_id);
  return receipt ? JSON.parse(receipt.text) : null;
}

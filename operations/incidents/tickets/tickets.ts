import { Problem, similarNames } from "../../../contract/mod.ts";
import { getReceipt } from "../../../ledger/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { getTicket, listTickets, type Ticket } from "../../../store/incidents/mod.ts";

/** The newest tickets whose ids an unknown one is compared with. */
const MAX_COMPARED = 500;

/** Returns a ticket. @throws {Problem} `NotFound` */
export async function requireTicket(store: Pick<Store, "db">, id: string): Promise<Ticket> {
  const ticket = await getTicket(store.db, id);
  if (ticket) return ticket;
  const ids = (await listTickets(store.db, { limit: MAX_COMPARED })).map((one) => one.ticket_id);
  const similar = similarNames(withoutPrefix(id), ids.map(withoutPrefix));
  const advice = similar.length > 0
    ? `did you mean INC-${similar.join(" or INC-")}?`
    : "GET /v1/itsm/incidents lists them";
  throw new Problem("NotFound", `There is no ticket ${id}; ${advice}`);
}

/** Returns the part of an id by which tickets differ. */
const withoutPrefix = (id: string) => id.replace("INC-", "");

/** Returns the receipt that a ticket names; null: it names none, or the receipt is not sealed yet. */
export async function embeddedReceipt(
  store: Store,
  { receipt_id }: Pick<Ticket, "receipt_id">,
): Promise<Record<string, unknown> | null> {
  const receipt = receipt_id === null ? undefined : await getReceipt(store, receipt_id);
  return receipt ? JSON.parse(receipt.text) : null;
}

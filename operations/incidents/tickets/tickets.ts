import { Problem } from "../../../contract/mod.ts";
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
  const similar = ids.filter((other) => isMistyped(id, other));
  const advice = similar.length > 0
    ? `did you mean ${similar.join(" or ")}?`
    : "GET /v1/itsm/incidents lists them";
  throw new Problem("NotFound", `There is no ticket ${id}; ${advice}`);
}

/** Returns whether an id differs from another one in two characters at most. Ids are random, so that others are just others. */
function isMistyped(id: string, other: string): boolean {
  return [...id].filter((character, at) => character !== other[at]).length <= 2;
}

/** Returns the receipt that a ticket names; null: it names none, or the receipt is not sealed yet. */
export async function embeddedReceipt(
  store: Store,
  { receipt_id }: Pick<Ticket, "receipt_id">,
): Promise<Record<string, unknown> | null> {
  const receipt = receipt_id === null ? undefined : await getReceipt(store, receipt_id);
  return receipt ? JSON.parse(receipt.text) : null;
}

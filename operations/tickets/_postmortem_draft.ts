import {
  listApprovalMoves,
  listRepairsOfTicket,
  listTicketEvents,
  type Ticket,
} from "../../store/mod.ts";
import { postmortemOf } from "./_postmortem.ts";
import { receiptOf } from "../_ticket_shapes.ts";
import type { Context } from "../../calls/mod.ts";

/** Drafts the postmortem of a ticket from all that is known of it. */
export async function draftOf(
  ticket: Ticket,
  { store, urls }: Pick<Context, "store" | "urls">,
): Promise<string> {
  const [events, repairs, receipt] = await Promise.all([
    listTicketEvents(store.asPlatform(), ticket.ticket_id),
    listRepairsOfTicket(store.asPlatform(), ticket.ticket_id),
    receiptOf(store, ticket.receipt_id),
  ]);
  const asked = new Set(events.flatMap(({ data }) => data.approval_id ?? []).map(String));
  const moves = await Promise.all(
    [...asked].map((id) => listApprovalMoves(store.asPlatform(), id)),
  );
  const ledgerUrl = urls.ledger;
  return postmortemOf({ ticket, events, repairs, receipt, ledgerUrl, decisions: moves.flat() });
}

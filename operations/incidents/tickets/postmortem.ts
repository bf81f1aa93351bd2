import type { Store } from "../../../store/mod.ts";
import { listApprovalMoves } from "../../../store/approvals/mod.ts";
import {
  listRepairsOfTicket,
  listTicketEvents,
  type Ticket,
} from "../../../store/incidents/mod.ts";
import { formatPostmortem } from "./postmortem_text.ts";
import { embeddedReceipt } from "./tickets.ts";

/**
 * Drafts the postmortem of a ticket's incident from its events, repairs, approvals and receipts.
 *
 * @param ledgerUrl public address of the ledger, without a slash at the end
 * @returns Markdown
 */
export async function draftPostmortem(
  store: Store,
  ticket: Ticket,
  ledgerUrl: string,
): Promise<string> {
  const db = store.db;
  const [events, repairs, receipt] = await Promise.all([
    listTicketEvents(db, ticket.ticket_id),
    listRepairsOfTicket(db, ticket.ticket_id),
    embeddedReceipt(store, ticket),
  ]);
  const approvals = new Set(events.flatMap(({ data }) => data.approval_id ?? []).map(String));
  const moves = await Promise.all([...approvals].map((id) => listApprovalMoves(db, id)));
  return formatPostmortem({ ticket, events, repairs, moves: moves.flat(), receipt, ledgerUrl });
}

/** Tells of a move of an approval in the move's own transaction: webhooks, the operator's terminal, the ticket. */
import type { Db } from "../../store/mod.ts";
import type { ApprovalMove, ApprovalRecord } from "../../store/approvals/mod.ts";
import { addTicketEvent, getTicket } from "../../store/incidents/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { feedMessage, messageOf } from "./notice.ts";
import { queueApprovalDeliveries } from "../../store/webhooks/mod.ts";

/** Tells the feed and webhooks of a move that asks people, or that ends the asking. */
export async function tellPeople(
  trx: Db,
  approval: ApprovalRecord,
  move: Pick<ApprovalMove, "move" | "by" | "reason">,
): Promise<void> {
  const { id, ticketId, status } = approval;
  const asks = status === "pending" && move.move !== "approved";
  if (status === "pending" && !asks) return; // one of several votes
  await queueApprovalDeliveries(trx, {
    approvalId: id,
    ticketId,
    type: asks ? "approval.requested" : "approval.decided",
    data: messageOf(approval, move),
  });
  const ticket = ticketId ? await getTicket(trx, ticketId) : undefined;
  await addMessage(trx, {
    kind: asks ? "approval.requested" : "approval.decided",
    ...feedMessage(approval, move),
    ...(ticket ? { severity: ticket.severity, service: ticket.service } : {}),
  });
}

/** Adds a move to the timeline of its ticket, with the status of the approval after it, and why it is outdated. */
export async function tellTicket(
  trx: Db,
  ticketId: string,
  approval_id: string,
  { number, move, status, receiptId, reason }: Omit<ApprovalMove, "by">,
): Promise<void> {
  const why = move === "outdated" && reason ? { why: reason } : {};
  await addTicketEvent(trx, ticketId, {
    key: `${approval_id}/${number}`,
    kind: `approval_${move}`,
    data: { approval_id, receipt_id: receiptId, status, ...why },
  });
}

import { receiptIdOf } from "../../calls/mod.ts";
import { LOOP_ACTOR } from "../../contract/domain/mod.ts";
import { isAttack } from "../../judgement/detection/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import {
  addTicketEvent,
  listRecovered,
  listRepairsOfTicket,
  type RecoveredTicket,
  resolveTicket,
} from "../../store/incidents/mod.ts";

/**
 * Closes tickets that wait for people although their fault is gone, and says who or what mended it as far as that is known.
 * An attack that has stopped stays with people, as what it did may be there. Safe to repeat, and to run in several workers.
 *
 * @returns how many were closed
 */
export async function closeRecovered({ db }: Store): Promise<number> {
  let closed = 0;
  for (const ticket of await listRecovered(db)) {
    if (isAttack(ticket.code)) continue;
    if (await db.transaction((trx) => close(trx, ticket))) closed++;
  }
  return closed;
}

/** @returns false: somebody else has closed it */
async function close(trx: Db, ticket: RecoveredTicket): Promise<boolean> {
  const { ticket_id, fingerprint, cleared_at } = ticket;
  const receiptId = receiptIdOf({ workflow_id: ticket_id, run_id: cleared_at }, "RECOVERED");
  const by = await menderOf(trx, ticket);
  const resolution = `The fault was gone at ${cleared_at}. ${by.says}`;
  const end = { outcome: "recovered", resolution, receiptId };
  if (!await resolveTicket(trx, ticket_id, end)) return false;
  await addTicketEvent(trx, ticket_id, {
    key: `recovered-${cleared_at}`,
    kind: "resolved",
    phase: "sealed",
    data: { receipt_id: receiptId, outcome: "recovered", cleared_at },
  });
  await requestSeal(trx, {
    id: receiptId,
    category: "ticket_closed",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: "tickets.recovered",
    outcome: "recovered",
    details: { fingerprint, cleared_at, mended_by: by.kind },
    evidence: { resolution },
  });
  return true;
}

/** Returns who or what has mended a fault, as far as the ticket tells. */
async function menderOf(
  trx: Db,
  { ticket_id, done_task }: RecoveredTicket,
): Promise<{ readonly kind: "repair" | "people" | "unknown"; readonly says: string }> {
  const repairs = await listRepairsOfTicket(trx, ticket_id);
  const last = repairs.findLast(({ state }) => state === "done" || state === "unknown");
  if (done_task !== null) {
    return { kind: "people", says: `People have done the task ${done_task}.` };
  }
  if (last && last.verified !== false) {
    const runbook = last.runbook ?? "a repair";
    return { kind: "repair", says: `${runbook} was the last that was done about it.` };
  }
  return { kind: "unknown", says: "Nobody has told what mended it." };
}

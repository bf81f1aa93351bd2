import { receiptIdOf } from "../../calls/mod.ts";
import { LOOP_ACTOR, say, type Text } from "../../contract/domain/mod.ts";
import { isAttack } from "../../judgement/detection/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { findRestart } from "../../store/platform/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import {
  addTicketEvent,
  listRecovered,
  listRepairsOfTicket,
  type RecoveredTicket,
  resolveTicket,
} from "../../store/incidents/mod.ts";

/** Processes whose service in the graph has another name. */
const PROCESS_OF_PART: Readonly<Record<string, string>> = {
  "tool-server": "mcp",
  "public-ledger": "ledger",
};

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
  const resolution = say`The fault was gone at ${cleared_at}. ${by.says}`;
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
    evidence: { resolution: String(resolution) },
  });
  return true;
}

/** Returns who or what has mended a fault, as far as the ticket tells. */
async function menderOf(
  trx: Db,
  { ticket_id, done_task, service, opened_at }: RecoveredTicket,
): Promise<
  { readonly kind: "repair" | "people" | "supervisor" | "unknown"; readonly says: Text }
> {
  const repairs = await listRepairsOfTicket(trx, ticket_id);
  const last = repairs.findLast(({ state }) => state === "done" || state === "unknown");
  if (done_task !== null) {
    return { kind: "people", says: say`People have done the task ${done_task}.` };
  }
  if (last && last.verified !== false) {
    const runbook = last.runbook ?? say`a repair`;
    return { kind: "repair", says: say`${runbook} was the last that was done about it.` };
  }
  const restart = service === null ? undefined : await findRestartOfPart(trx, service);
  if (restart && restart >= opened_at) {
    const says =
      say`The platform's supervisor has started ${service} again, which runs since ${restart.toISOString()}.`;
    return { kind: "supervisor", says };
  }
  return { kind: "unknown", says: say`Nobody has told what mended it.` };
}

/** Returns when a part of the platform was started again, and has run since; undefined: it was not, or it is none. */
async function findRestartOfPart(trx: Db, name: string): Promise<Date | undefined> {
  const service = await getService(trx, name);
  if (service?.origin !== "platform") return undefined;
  return await findRestart(trx, PROCESS_OF_PART[name] ?? name);
}

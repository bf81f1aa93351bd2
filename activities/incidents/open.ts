import { receiptIdOf } from "../../calls/mod.ts";
import { LOOP_ACTOR, type RunId } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { abandonEffects, addTicketEvent, escalateTicketOfRun } from "../../store/incidents/mod.ts";
import type { ActKind } from "../acts/mod.ts";

/** Tickets whose run has not closed them. People take them over, and effects of which nobody can tell are `unknown`. */
export const ticketKind: ActKind = {
  async end({ store }, { id }, run, status) {
    return await store.db.transaction((trx) => recordEndedRun(trx, id, run, status));
  },
};

/**
 * Escalates the ticket of a run that was ended from outside, and requests the receipt; once.
 *
 * @param status `REPLACED`: there is a new run for the same fault
 * @returns false: that was done before
 */
export async function recordEndedRun(
  trx: Db,
  ticket_id: string,
  run: RunId,
  status: string,
): Promise<boolean> {
  const { run_id } = run;
  const id = receiptIdOf(run, "ENDED");
  if (!await escalateTicketOfRun(trx, ticket_id, run_id, id)) return false;
  const unknown_effects = await abandonEffects(trx, ticket_id);
  await addTicketEvent(trx, ticket_id, {
    key: `${run_id}/ended`,
    kind: "escalated",
    phase: "sealed",
    data: { status, receipt_id: id, unknown_effects },
  });
  await requestSeal(trx, {
    id,
    category: "escalation",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: "run.ended",
    outcome: unknown_effects > 0 ? "unknown" : "escalated",
    details: { status, unknown_effects, ...run },
  });
  return true;
}

import { receiptIdOf } from "../../calls/mod.ts";
import { type ActiveStop, LOOP_ACTOR } from "../../domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { addTicketEvent, type DatedStop, type Store } from "../../store/mod.ts";
import type { RepairOrder } from "./_order.ts";

/** A step that a stop holds back. */
export interface HeldStep {
  readonly step: string;
  readonly kind: string;
  readonly undoing: boolean;
}

/** Records and seals that a stop holds back a step: once for each stop and round. */
export async function recordHeldStep(
  store: Store,
  { ticket_id, action, round, run }: RepairOrder,
  { step, kind, undoing }: HeldStep,
  { kind: stopKind, name, reason, stopped_at }: DatedStop,
): Promise<ActiveStop> {
  const mark = `${undoing ? "undo-" : ""}held-${round}-${stopped_at.getTime()}`;
  const stop = name ? `${stopKind} ${name}` : stopKind;
  const event = {
    key: `${run.run_id}/${mark}`,
    kind: undoing ? "undo_held" : "held",
    data: { round, step, kind, stop, reason },
  };
  const seal = {
    id: receiptIdOf(run, mark),
    category: undoing ? "undo_held" : "repair_held",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: kind,
    outcome: "not_done",
    details: {
      action_id: action.id,
      round,
      stop: stopKind,
      ...run,
    },
    evidence: { stop, reason, step },
  };
  await store.db.transaction(async (trx) => {
    if (await addTicketEvent(trx, ticket_id, event)) await requestSeal(trx, seal);
  });
  return { kind: stopKind, name };
}

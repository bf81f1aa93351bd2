import { receiptIdOf } from "../../calls/mod.ts";
import { LOOP_ACTOR, type RepairHold } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { addTicketEvent, escalateTicketOfRun } from "../../store/incidents/mod.ts";
import { type DatedHold, toRepairHold } from "../governance.ts";
import type { RepairOrder } from "./_order.ts";

/** A step that is held back. */
export interface HeldStep {
  readonly step: string;
  readonly kind: string;
  readonly undoing: boolean;
}

/** Records and seals what holds back a step: once for each stop or window and round. */
export async function recordHeldStep(
  store: Store,
  { ticket_id, action, round, run }: RepairOrder,
  { step, kind, undoing }: HeldStep,
  hold: DatedHold,
): Promise<RepairHold> {
  const { kind: holdKind, name, reason, since, until } = hold;
  const mark = `${undoing ? "undo-" : ""}held-${round}-${since.getTime()}`;
  const stop = name ? `${holdKind} ${name}` : holdKind;
  const event = {
    key: `${run.run_id}/${mark}`,
    kind: undoing ? "undo_held" : "held",
    data: { round, step, kind, stop, reason, ...(until ? { until } : {}) },
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
      stop: holdKind,
      ...(until ? { event_id: name, until } : {}),
      ...run,
    },
    evidence: { stop, reason, step },
  };
  await store.db.transaction(async (trx) => {
    if (await addTicketEvent(trx, ticket_id, event)) await requestSeal(trx, seal);
  });
  return toRepairHold(hold);
}

/**
 * Leaves the ticket of a run to people while the guardrails can't be asked, and tells them once; the run goes on asking. The
 * ticket is the run's again with the guardrails' verdict.
 */
export async function recordAway(
  store: Store,
  { ticket_id, action, round, run }: RepairOrder,
): Promise<RepairHold> {
  const mark = `away-${round}`;
  const id = receiptIdOf(run, mark);
  const event = {
    key: `${run.run_id}/${mark}`,
    kind: "escalated",
    data: { round, reason: "guardrails_away", receipt_id: id },
  };
  const seal = {
    id,
    category: "repair_held",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: "validate",
    outcome: "not_done",
    details: { action_id: action.id, round, stop: "guardrails", ...run },
  };
  await store.db.transaction(async (trx) => {
    if (!await escalateTicketOfRun(trx, ticket_id, run.run_id, id)) return;
    if (await addTicketEvent(trx, ticket_id, event)) await requestSeal(trx, seal);
  });
  return { kind: "guardrails", name: "" };
}

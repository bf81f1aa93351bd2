/** What switches stop of the platform's own: it asks for no call, so nobody else would hold it. */
import { Problem } from "../contract/mod.ts";
import type { ActiveStop } from "../domain/mod.ts";
import { addTicketEvent, findStop, type Stop, type StopSubject, type Store } from "../store/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import type { RepairOrder } from "./_effects.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";

/** Names of the operations by which a repair and a drill are asked for: what stops these stops it, whoever asked. */
export const STOPPED_AS = {
  repair: ["itsm.loop", "itsm_loop", "itsm_run_loop"],
  test: ["itsm.test", "itsm_test", "itsm_run_test"],
  attack: ["attacks.simulate", "simulate_infrastructure_attack"],
} as const;

/** What switches are held against. @param requestedBy `key:<id>`, or who else asked */
export function stoppable(
  what: keyof typeof STOPPED_AS,
  requestedBy: string | undefined,
): StopSubject {
  const keyId = /^key:(.+)$/.exec(requestedBy ?? "")?.[1] ?? null;
  return { keyId, names: STOPPED_AS[what] };
}

/** The switch that stops a repair, or the undoing of one. */
export async function stopOfRepair(
  store: Store,
  { finding }: Pick<RepairOrder, "finding">,
): Promise<Stopped | undefined> {
  return await findStop(store.asPlatform(), stoppable("repair", finding.requested_by));
}

/** A switch, and when it was set. */
export type Stopped = Stop & { readonly stopped_at: Date };

/** Notes in the ticket that a step is held, and seals it: once a switch. */
export async function holdStep(
  store: Store,
  { ticket_id, action, round, run }: RepairOrder,
  step: { readonly step: string; readonly kind: string; readonly undoing: boolean },
  { kind, name, reason, stopped_at }: Stopped,
): Promise<ActiveStop> {
  const mark = `${step.undoing ? "undo-" : ""}held-${round}-${stopped_at.getTime()}`;
  const stop = name ? `${kind} ${name}` : kind;
  const event = {
    key: `${run.run_id}/${mark}`,
    kind: step.undoing ? "undo_held" : "held",
    data: { round, step: step.step, kind: step.kind, stop, reason },
  };
  const seal = {
    id: receiptIdOf(run, mark),
    category: step.undoing ? "undo_held" : "repair_held",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: step.kind,
    outcome: "not_done",
    details: {
      ...{ action_id: action.id, action_sha256: action.sha256, round, stop: kind },
      ...run,
    },
    evidence: { stop, reason, step: step.step },
  };
  await store.asPlatform().transaction(async (trx) => {
    if (await addTicketEvent(trx, ticket_id, event)) await requestSeal(trx, seal);
  });
  return { kind, name };
}

/** @throws {Problem} `Denied`, not retryable: a switch stops the drill */
export async function mayDrill(
  store: Store,
  what: "test" | "attack",
  requestedBy: string,
): Promise<void> {
  const stop = await findStop(store.asPlatform(), stoppable(what, requestedBy));
  if (!stop) return;
  const which = stop.kind === "all" ? "everything" : `${stop.kind} ${stop.name}`;
  throw new Problem("Denied", `No drill is begun, as ${which} is stopped: ${stop.reason}`);
}

import { createHash } from "node:crypto";
import { receiptIdOf } from "../../calls/mod.ts";
import type { Config } from "../../config.ts";
import { LOOP_ACTOR, type PlaceSignature } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { addTicketEvent, intendEffect } from "../../store/incidents/mod.ts";
import { stopSubject } from "../governance.ts";
import type { TenantParts } from "../parts.ts";
import { effectIdOf, undoIdOf } from "./_action.ts";
import { stepOf, type StepOrder } from "./_order.ts";
import { signIntent } from "./_sign_step.ts";

/** Returns the id of this place's data folder, where the marks of effects are. */
export function dataFolderId({ dataDir, place }: Pick<Config, "dataDir" | "place">): string {
  return createHash("sha256").update(`${place}\n${dataDir}`).digest("hex").slice(0, 16);
}

/** An effect to intend, with its ticket event and its receipt. */
interface Intent {
  readonly effect: Parameters<typeof intendEffect>[1];
  readonly event: Parameters<typeof addTicketEvent>[2];
  readonly seal: Parameters<typeof requestSeal>[1];
}

/**
 * Records the intent of a step, or of undoing it, and requests its receipt, in one transaction.
 *
 * @returns false if an earlier attempt recorded it, the ticket is no longer the run's, or it is held back
 */
export async function recordIntent(
  parts: Pick<TenantParts, "config" | "place" | "store">,
  step: StepOrder,
  { undoing }: { readonly undoing: boolean },
): Promise<boolean> {
  const { ticket_id, finding, run } = step.order;
  const signed = await signIntent(parts, { ...step, undoing });
  const { effect, event, seal } = createIntent(step, dataFolderId(parts.config), undoing, signed);
  const subject = stopSubject("repair", finding.requested_by);
  return await parts.store.db.transaction(async (trx) => {
    if (!await intendEffect(trx, effect, run.run_id, subject)) return false;
    await addTicketEvent(trx, ticket_id, event);
    await requestSeal(trx, seal);
    return true;
  });
}

/** @param folder id of the data folder that will have the marks of the effect */
function createIntent(
  { order: { ticket_id, action, round, run }, number, service }: StepOrder,
  folder: string,
  undoing: boolean,
  { place, place_signature }: PlaceSignature,
): Intent {
  const { step, kind } = stepOf(action, number);
  const { runbook, version } = action;
  const effectId = effectIdOf(action, number);
  const id = undoing ? undoIdOf(effectId) : effectId;
  const word = undoing ? "undo" : "repair";
  return {
    effect: {
      id,
      ticket_id,
      service: service.name,
      action_id: action.id,
      step,
      undoes: undoing ? effectId : null,
      action: { runbook, version, step, kind, order: action.steps[number] },
      action_sha256: action.sha256,
      detail: { place: folder },
    },
    event: {
      key: `${run.run_id}/${word}-intended-${round}-${step}`,
      kind: undoing ? "undo_intended" : "intended",
      data: { round, effect_id: id, runbook, version, step, kind },
    },
    seal: {
      id: receiptIdOf(run, `${undoing ? "UNDO" : "REMEDIATE"}-${round}-${number + 1}`),
      category: `${word}_intended`,
      actor: LOOP_ACTOR,
      subject: ticket_id,
      action: kind,
      outcome: "intended",
      details: {
        effect_id: id,
        action_id: action.id,
        ...(undoing ? { undoes: effectId } : {}),
        step: number + 1,
        steps: action.steps.length,
        round,
        place,
        place_signature,
        ...run,
      },
      evidence: { action },
    },
  };
}

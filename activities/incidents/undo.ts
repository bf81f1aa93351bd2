import {
  actOnce,
  type RepairHold,
  type StepResult,
  type UndoResult,
} from "../../contract/domain/mod.ts";
import { canUndo, type StepOutcome, undoStep } from "../../judgement/runbooks/mod.ts";
import {
  addTicketEvent,
  type EffectRecord,
  endEffect,
  getEffect,
  listEffectsOfAction,
} from "../../store/incidents/mod.ts";
import type { TenantParts } from "../parts.ts";
import { undoIdOf } from "./_action.ts";
import { isOwnAction } from "./_action_id.ts";
import { effectParts } from "./_effect_once.ts";
import { endedStepResult, readStepContext } from "./_effects.ts";
import { type RepairOrder, stepOf } from "./_order.ts";
import { findService } from "./_services.ts";
import { conflict, notDone } from "./_run_step.ts";
import { recordHeldStep } from "./_holds.ts";
import { signResult } from "./_sign_step.ts";

/** A step whose effect is to be undone. */
interface UndoOrder {
  readonly order: RepairOrder;
  /** From 0. */
  readonly number: number;
  /** Effect of the step. */
  readonly effect: EffectRecord;
}

/** A step that was not undone, as it is held back. */
interface HeldUndo {
  readonly held: RepairHold;
  readonly step: StepResult;
}

/** Creates the activity that undoes a repair that did not help. */
export function undoActivities(parts: TenantParts) {
  const { store } = parts;
  const db = store.db;

  /**
   * Undoes the steps of an action that were done and can be undone, last step first, until the result of one is
   * unknown or the rest is held back.
   *
   * Safe to repeat: as in a repair, the intent is recorded and sealed before each step is undone, and a second attempt
   * finds it.
   *
   * @throws {Problem} `Conflict`, not retryable: the run did not find this action in this round
   */
  async function undo(order: RepairOrder): Promise<UndoResult> {
    const { ticket_id, action, round, run } = order;
    if (!await isOwnAction(store, order)) {
      throw conflict(`Action ${action.id} is none that this run found in this round`);
    }
    const effects = await listEffectsOfAction(db, action.id);
    const steps: StepResult[] = [];
    for (const number of [...action.steps.keys()].reverse()) {
      const step = stepOf(action, number);
      const effect = effects.find((one) => one.step === step.step && one.undoes === null);
      if (effect?.state !== "done" || !canUndo(step)) continue;
      const undone = await undoOnce({ order, number, effect });
      if ("held" in undone) return { ...sumOf([...steps, undone.step]), held: undone.held };
      steps.push(undone);
      if (undone.state === "unknown") break;
    }
    const result = sumOf(steps);
    await addTicketEvent(db, ticket_id, {
      key: `${run.run_id}/undone-${round}`,
      kind: result.state === "done" ? "undone" : "undo_failed",
      data: { round, ...result },
    });
    return result;
  }

  async function undoOnce({ order, number, effect }: UndoOrder): Promise<StepResult | HeldUndo> {
    const step = stepOf(order.action, number);
    const { step: name, kind } = step;
    const id = undoIdOf(effect.id);
    const known = await getEffect(db, id);
    if (known && known.state !== "intended") return endedStepResult(known, kind);
    const service = await findService(db, order.action.service);
    if (!service) return await recordEnd(notDone("no_service"));
    const perform = async () =>
      await undoStep(step, effect.id, id, await readStepContext(parts, order, service));
    return await actOnce({
      ...effectParts(parts, { order, number, service }, { known, undoing: true }, perform),
      async end(outcome = notDone("not_ours_any_more")) {
        if (!("since" in outcome)) return await recordEnd(outcome);
        const held = await recordHeldStep(
          store,
          order,
          { step: name, kind, undoing: true },
          outcome,
        );
        const state = known ? "unknown" : "not_done";
        return { held, step: await signedOf({ state, ok: false, code: "stopped" }) };
      },
    });

    async function recordEnd(outcome: StepOutcome): Promise<StepResult> {
      const { state, ...detail } = outcome;
      const result = await signedOf(outcome);
      await endEffect(db, id, state, { ...detail, signed: result.signed });
      return result;
    }

    async function signedOf(outcome: StepOutcome): Promise<StepResult> {
      return await signResult(parts, { order, number }, { id, step: name, kind, ...outcome });
    }
  }

  return { undo };
}

function sumOf(steps: readonly StepResult[]): UndoResult {
  const failed = steps.find(({ state }) => state === "unknown") ?? steps.find(({ ok }) => !ok);
  const code = failed?.code ?? (steps.length > 0 ? "undone" : "nothing_to_undo");
  const state = !failed ? "done" : failed.state === "unknown" ? "unknown" : "not_done";
  return { state, code, steps };
}

import type { ActiveStop, StepResult, UndoResult } from "../domain/mod.ts";
import { canUndo, type Catalogue, type StepOutcome, undoStep } from "../runbooks/mod.ts";
import {
  addTicketEvent,
  type EffectRecord,
  endEffect,
  getEffect,
  listEffectsOfAction,
} from "../store/mod.ts";
import { undoIdOf } from "./_action.ts";
import { intending, placeOf, type RepairOrder, resultOf, stepOf, stepPartsOf } from "./_effects.ts";
import { type ActivityParts, findService } from "./_parts.ts";
import { holdStep, stopOfRepair, type Stopped } from "./_stops.ts";

/** The step that takes back what a repair did that did not help. */
export function undoing(parts: ActivityParts, catalogue: Catalogue) {
  const { store, config } = parts;
  const place = placeOf(config);
  const intend = intending(store, place, true);

  /**
   * Undoes the steps of an action that were done, the last one first, as far as they have an opposite; stops where nobody
   * can tell what became of one. Undoing is intended and sealed like doing, held by the same switches, and as safe to
   * repeat.
   */
  async function undo(order: RepairOrder): Promise<UndoResult> {
    const { ticket_id, action, round, run } = order;
    const effects = await listEffectsOfAction(store.asPlatform(), action.id);
    const steps: StepResult[] = [];
    for (const number of [...action.steps.keys()].reverse()) {
      const { step } = stepOf(action, number);
      const done = effects.find((effect) => effect.step === step && effect.undoes === null);
      if (done?.state !== "done" || !canUndo(stepOf(action, number))) continue;
      const undone = await undoOne(order, number, done);
      if ("held" in undone) {
        const { held, step } = undone;
        return { ...sumOf([...steps, step]), held };
      }
      steps.push(undone);
      if (undone.state === "unknown") break;
    }
    const result = sumOf(steps);
    await addTicketEvent(store.asPlatform(), ticket_id, {
      key: `${run.run_id}/undone-${round}`,
      kind: result.state === "done" ? "undone" : "undo_failed",
      data: { round, ...result },
    });
    return result;
  }

  async function undoOne(
    order: RepairOrder,
    number: number,
    done: EffectRecord,
  ): Promise<StepResult | { readonly held: ActiveStop; readonly step: StepResult }> {
    const step = stepOf(order.action, number);
    const id = undoIdOf(done.id);
    const known = await getEffect(store.asPlatform(), id);
    if (known && known.state !== "intended") return resultOf(known, step.kind);
    const happened = await once(order, number, done, known);
    if ("stopped_at" in happened) {
      const { step: name, kind } = step;
      const held = await holdStep(store, order, { step: name, kind, undoing: true }, happened);
      const state = known ? "unknown" : "not_done";
      return { held, step: { id, step: name, kind, state, ok: false, code: "stopped" } };
    }
    const { state, ...detail } = happened;
    await endEffect(store.asPlatform(), id, state, detail);
    return { id, step: step.step, kind: step.kind, ...happened };
  }

  async function once(
    order: RepairOrder,
    number: number,
    done: EffectRecord,
    known: EffectRecord | undefined,
  ): Promise<StepOutcome | Stopped> {
    const service = await findService(store.asPlatform(), order.action.service);
    if (!service) return { state: "not_done", ok: false, code: "no_service" };
    const id = undoIdOf(done.id);
    const stopped = known && await stopOfRepair(store, order);
    if (stopped) return stopped;
    const intended = known ??
      (await intend({ order, number, service })
        ? { detail: { place } }
        : await getEffect(store.asPlatform(), id));
    if (!intended) {
      return await stopOfRepair(store, order) ??
        { state: "not_done", ok: false, code: "not_ours_any_more" };
    }
    if (intended.detail.place !== place) return { state: "unknown", ok: false, code: "other_host" };
    const stepParts = await stepPartsOf(parts, catalogue, order, service);
    return await undoStep(stepOf(order.action, number), done.id, id, stepParts);
  }

  return { undo };
}

function sumOf(steps: readonly StepResult[]): UndoResult {
  const bad = steps.find(({ state }) => state === "unknown") ?? steps.find(({ ok }) => !ok);
  const code = bad?.code ?? (steps.length > 0 ? "undone" : "nothing_to_undo");
  const state = bad ? bad.state === "unknown" ? "unknown" : "not_done" : "done";
  return { state, code, steps };
}

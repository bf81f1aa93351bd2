import type { Action, RepairEffect, RepairHold, RepairSubject } from "../../contract/domain/mod.ts";
import { listEffectsOfAction } from "../../store/incidents/mod.ts";
import { findRepairHold, toRepairHold } from "../governance.ts";
import type { ActivityParts } from "../parts.ts";
import { endedStepResult, repairEffectOf } from "./_effects.ts";
import { stepOf } from "./_order.ts";
import { createSilencer } from "./_silence.ts";

/** Creates the activities about repairs that touch no machine. */
export function holdActivities(parts: ActivityParts) {
  const { store } = parts;
  const { lift: liftSilence } = createSilencer(parts);

  /** Returns what holds back a service's repairs now; null: nothing does. Safe to repeat: it only reads. */
  async function getRepairHold(subject: RepairSubject): Promise<RepairHold | null> {
    const hold = await findRepairHold(store, subject);
    return hold ? toRepairHold(hold) : null;
  }

  /**
   * Returns what is recorded of an action; null: none of its steps was begun. Of a step that was begun and has no recorded
   * end, nobody knows what it did. Safe to repeat: it only reads.
   */
  async function readEffect(action: Action): Promise<RepairEffect | null> {
    const effects = await listEffectsOfAction(store.db, action.id);
    const steps = action.steps.flatMap((_, number) => {
      const { step, kind } = stepOf(action, number);
      const effect = effects.find((one) => one.step === step && one.undoes === null);
      if (!effect) return [];
      const { id, state } = effect;
      return state === "intended"
        ? [{ id, step, kind, state: "unknown" as const, ok: false, code: "place_away" }]
        : [endedStepResult(effect, kind)];
    });
    return steps.length === 0 ? null : repairEffectOf(action, steps);
  }

  return { getRepairHold, readEffect, liftSilence };
}

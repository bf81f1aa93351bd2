import type { Act } from "../../contract/domain/mod.ts";
import type { StepOutcome } from "../../judgement/runbooks/mod.ts";
import { type EffectRecord, getEffect } from "../../store/incidents/mod.ts";
import type { TenantParts } from "../parts.ts";
import { type DatedHold, findRepairHold } from "../governance.ts";
import { undoIdOf } from "./_action.ts";
import { endedStepResult } from "./_effects.ts";
import { dataFolderId, recordIntent } from "./_intend.ts";
import { type StepOrder, stepWithEffectId, subjectOf } from "./_order.ts";

/** How a step came out, or what holds it back; undefined: the ticket is not the run's any more. */
type EffectOutcome = StepOutcome | DatedHold | undefined;

/**
 * Returns the parts of carrying out a step, or of undoing it, but for its end. The intent of an earlier attempt is found,
 * and only the host of that attempt can find its effect.
 *
 * @param known effect that an earlier attempt intended
 * @param perform finds its mark, so that it may be repeated on the same host, and acts where nothing was done
 */
export function effectParts(
  parts: TenantParts,
  step: StepOrder,
  { known, undoing }: { readonly known: EffectRecord | undefined; readonly undoing: boolean },
  perform: () => Promise<StepOutcome>,
): Omit<Act<StepOutcome, EffectOutcome, never>, "end"> {
  const { config, store } = parts;
  const { step: { kind }, effectId } = stepWithEffectId(step.order, step.number);
  return {
    intend: async () => !known && await recordIntent(parts, step, { undoing }),
    act: perform,
    async prove(outcome) {
      if (outcome) return outcome;
      const effect = known ?? await getEffect(store.db, undoing ? undoIdOf(effectId) : effectId);
      if (effect && effect.state !== "intended") return endedStepResult(effect, kind); // by another attempt, just now
      const hold = known || !effect
        ? await findRepairHold(store, subjectOf(step.order))
        : undefined;
      if (hold || !effect) return hold;
      if (effect.detail.place === dataFolderId(config)) return await perform();
      return { state: "unknown", ok: false, code: "other_host" };
    },
  };
}

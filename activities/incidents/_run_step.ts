import { Problem } from "../../contract/mod.ts";
import {
  actOnce,
  type RepairEffect,
  type RepairHold,
  type StepResult,
} from "../../contract/domain/mod.ts";
import { readPrinted, type Service } from "../../integrations/host/mod.ts";
import {
  performStep,
  READ_ONLY_KINDS,
  type StepOutcome,
  verifyStep,
} from "../../judgement/runbooks/mod.ts";
import {
  addTicketEvents,
  type EffectRecord,
  endEffect,
  getTaker,
  type TicketEvent,
} from "../../store/incidents/mod.ts";
import type { TenantParts } from "../parts.ts";
import { effectParts } from "./_effect_once.ts";
import { endedStepResult, readStepContext, repairEffectOf } from "./_effects.ts";
import { type RepairOrder, type StepOrder, stepWithEffectId } from "./_order.ts";
import { signResult } from "./_sign_step.ts";
import { recordHeldStep } from "./_holds.ts";

/** End of a step's output, which is kept as evidence. */
const MAX_PRINTED_BYTES = 2_000;

/** Progress of an action. */
export interface Progress {
  /** Undefined: the service, the runbook or its values have changed since the diagnosis. */
  readonly service: Service | undefined;
  /** Effects that earlier attempts recorded, by id. */
  readonly known: ReadonlyMap<string, EffectRecord>;
  readonly steps: StepResult[];
  /** True: the result of the whole action is recorded. */
  isConcluded: boolean;
  /** Holds back the remaining steps. */
  held?: RepairHold | undefined;
}

/** Creates the function that runs one step of an action, at most once. */
export function createStepRunner(parts: TenantParts) {
  const { store, config: { dataDir } } = parts;
  const db = store.db;

  async function runStep(
    order: RepairOrder,
    number: number,
    progress: Progress,
  ): Promise<StepResult> {
    const { service, steps: earlier } = progress;
    const { step, effectId } = stepWithEffectId(order, number);
    const known = progress.known.get(effectId);
    if (known && known.state !== "intended") return endedStepResult(known, step.kind);
    if (!service) {
      if (known) return await recordEnd(order, number, unknown("runbook_changed"), progress);
      if (earlier.some(({ state }) => state !== "not_done")) {
        return await signedResultOf(parts, order, number, notDone("runbook_changed"));
      }
      throw conflict(
        `The runbook of ${order.action.service} has changed since this action was made`,
      );
    }
    const stepOrder = { order, number, service };
    if (READ_ONLY_KINDS.has(step.kind)) {
      return await signedResultOf(parts, order, number, await actAndVerify(stepOrder));
    }
    const perform = () => actAndVerify(stepOrder);
    return await actOnce({
      ...effectParts(parts, stepOrder, { known, undoing: false }, perform),
      async end(outcome) {
        if (!outcome) {
          if (await getTaker(db, order.ticket_id) !== null) {
            return await recordEnd(order, number, notDone("taken"), progress);
          }
          if (earlier.length > 0) {
            return await recordEnd(order, number, notDone("not_ours_any_more"), progress);
          }
          throw conflict(`Ticket ${order.ticket_id} is no longer in the hands of this run`);
        }
        if (!("since" in outcome)) return await recordEnd(order, number, outcome, progress);
        const heldStep = { step: step.step, kind: step.kind, undoing: false };
        progress.held = await recordHeldStep(store, order, heldStep, outcome);
        const stopped = known ? unknown("stopped") : notDone("stopped");
        return await signedResultOf(parts, order, number, stopped);
      },
    });
  }

  async function actAndVerify({ order, number, service }: StepOrder): Promise<StepOutcome> {
    const { step, effectId } = stepWithEffectId(order, number);
    const context = await readStepContext(parts, order, service);
    const outcome = await performStep(step, effectId, context);
    if (!outcome.ok || outcome.state !== "done") return outcome;
    const verified = await verifyStep(step, context);
    return verified.ok ? outcome : { ...outcome, ok: false, code: `not_verified_${verified.code}` };
  }

  /** Records the end of a step, and of the whole action after its last step. */
  async function recordEnd(
    order: RepairOrder,
    number: number,
    outcome: StepOutcome,
    progress: Progress,
  ): Promise<StepResult> {
    const { ticket_id, action, round, run } = order;
    const { step: { step, kind }, effectId } = stepWithEffectId(order, number);
    const { state, ...figures } = outcome;
    const printed = await readPrinted({ dataDir, effectId }, MAX_PRINTED_BYTES);
    const shown = { ...figures, ...(printed === undefined ? {} : { printed }) };
    const result = await signedResultOf(parts, order, number, outcome);
    const events: TicketEvent[] = action.steps.length === 1 ? [] : [{
      key: `${run.run_id}/step-${round}-${step}`,
      kind: outcome.ok ? "step_done" : "step_failed",
      data: { round, step, kind, effect_id: effectId, state, ...shown },
    }];
    progress.isConcluded = !outcome.ok || number === action.steps.length - 1;
    if (progress.isConcluded) {
      const effect = repairEffectOf(action, [...progress.steps, result]);
      events.push(conclusionOf(order, effect, printed));
    }
    await db.transaction(async (trx) => {
      await endEffect(trx, effectId, state, { ...shown, signed: result.signed });
      await addTicketEvents(trx, ticket_id, events);
    });
    return result;
  }

  return runStep;
}

/** Returns the ticket event of a whole action. @param printed by its last step */
export function conclusionOf(
  { action: { id, runbook, version }, round, run }: RepairOrder,
  { state, code, steps }: RepairEffect,
  printed?: string,
): TicketEvent {
  const shownSteps = steps.map(({ step, state, code }) => ({ step, state, code }));
  return {
    key: `${run.run_id}/remediated-${round}`,
    kind: state === "done" ? "remediated" : "remediation_failed",
    phase: state === "done" ? "remediated" : undefined,
    data: {
      round,
      action_id: id,
      runbook,
      version,
      state,
      code,
      steps: shownSteps,
      ...(printed === undefined ? {} : { printed }),
    },
  };
}

/** Returns the result of a step from its outcome, as this place signs it. */
export async function signedResultOf(
  parts: Pick<TenantParts, "place">,
  order: RepairOrder,
  number: number,
  outcome: StepOutcome,
): Promise<StepResult> {
  const { step: { step, kind }, effectId: id } = stepWithEffectId(order, number);
  return await signResult(parts, { order, number }, { id, step, kind, ...outcome });
}

/** Returns the outcome of a step that was not done. */
export const notDone = (code: string): StepOutcome => ({ state: "not_done", ok: false, code });
const unknown = (code: string): StepOutcome => ({ state: "unknown", ok: false, code });
/** Returns the error of an order that no longer applies. */
export const conflict = (message: string) => new Problem("Conflict", message);

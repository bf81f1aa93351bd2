import { cancellationSignal } from "@temporalio/activity";
import type { RepairResult } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import {
  addTicketEvent,
  type EffectRecord,
  listEffectsOfAction,
  type TicketEvent,
} from "../../store/incidents/mod.ts";
import type { TenantParts } from "../parts.ts";
import { isOwnAction } from "./_action_id.ts";
import { repairEffectOf } from "./_effects.ts";
import { recordAway } from "./_holds.ts";
import { createActionComparer } from "./_compare_action.ts";
import type { RepairOrder, RepairRequest } from "./_order.ts";
import { createPermit } from "./_permit.ts";
import {
  conclusionOf,
  conflict,
  createStepRunner,
  notDone,
  type Progress,
  signedResultOf,
} from "./_run_step.ts";
import { createSilencer } from "./_silence.ts";

/** Creates the activity that repairs. */
export function remediateActivities(parts: TenantParts) {
  const { store } = parts;
  const db = store.db;
  const compareAction = createActionComparer(parts);
  const permit = createPermit(parts);
  const runStep = createStepRunner(parts);
  const { silence } = createSilencer(parts);

  /**
   * Runs the steps of one action, each at most once, until one fails. Runs none unless the guardrails, or a person where
   * they ask for one, have permitted exactly this action.
   *
   * Safe to repeat: the intent of a step is recorded and sealed before its first side effect. A second attempt finds it,
   * checks whether the effect is there, and ends as `done` or `unknown`; it acts only if nothing was done.
   *
   * A stop or a maintenance window that applies holds back each step: not even its intent is recorded. Guardrails that can't
   * be asked hold back all of it, and people are told. A later attempt continues there.
   *
   * Does nothing where what the action was made from has changed since: it is another one now, and is made anew.
   *
   * @throws {Problem} `Conflict`, not retryable, before anything was done: the run did not find this action
   * in this round, or the ticket is no longer the run's
   */
  async function remediate(request: RepairRequest): Promise<RepairResult> {
    if (!await isOwnAction(store, request)) {
      throw conflict(`Action ${request.action.id} is none that this run found in this round`);
    }
    const permission = await permit(request);
    if (permission.decision === "away") {
      return { permission, effect: null, held: await recordAway(store, request) };
    }
    if (!permission.granted) return { permission, effect: null };
    const effects = await listEffectsOfAction(db, request.action.id);
    const { service, changed } = await compareAction(request, effects.length > 0);
    if (changed !== undefined && effects.length === 0) {
      await addTicketEvent(db, request.ticket_id, outdatedEventOf(request, changed));
      return { permission, effect: null, outdated: true };
    }
    const silenced = await silence(request);
    const repaired = await runSteps(request, effects, service);
    return { permission, ...repaired, ...(silenced ? { silenced } : {}) };
  }

  /** @param service undefined: what the action was made from has changed since it was begun */
  async function runSteps(
    order: RepairOrder,
    effects: readonly EffectRecord[],
    service: Service | undefined,
  ): Promise<Omit<RepairResult, "permission">> {
    const { action } = order;
    const known = new Map(effects.map((effect) => [effect.id, effect]));
    const progress: Progress = { service, known, steps: [], isConcluded: false };
    const { steps } = progress;
    for (const number of action.steps.keys()) {
      const isCancelled = steps.length > 0 && cancellationSignal().aborted;
      const step = isCancelled
        ? await signedResultOf(parts, order, number, notDone("cancelled"))
        : await runStep(order, number, progress);
      steps.push(step);
      if (!step.ok) break;
    }
    const effect = repairEffectOf(action, steps);
    if (progress.held) return { effect, held: progress.held };
    if (!progress.isConcluded) {
      await addTicketEvent(db, order.ticket_id, conclusionOf(order, effect));
    }
    return { effect };
  }

  return { remediate };
}

/** Returns the ticket event of an action that is made anew. @param why a sentence without its end */
function outdatedEventOf({ action, round, run }: RepairOrder, why: string): TicketEvent {
  return {
    key: `${run.run_id}/outdated-${round}`,
    kind: "outdated",
    data: { round, runbook: action.runbook, version: action.version, why },
  };
}

import { createHash } from "node:crypto";
import type { Service } from "../integrations/host/mod.ts";
import {
  canUndo,
  type Catalogue,
  READ_ONLY_KINDS,
  ResolvedStep,
  type StepContext,
} from "../runbooks/mod.ts";
import {
  addTicketEvent,
  type EffectRecord,
  getRunbookValues,
  intendEffect,
  type Store,
} from "../store/mod.ts";
import type { Action, Finding, RepairEffect, RunId, StepResult } from "../domain/mod.ts";
import { hostname } from "node:os";
import type { Config } from "../config.ts";
import { requestSeal } from "../ledger/mod.ts";
import { effectIdOf, undoIdOf } from "./_action.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import type { ActivityParts } from "./_parts.ts";
import { startingWorkflows } from "./_step_workflows.ts";
import { stoppable } from "./_stops.ts";

/** One action that a run may do, or undo. */
export interface RepairOrder {
  readonly ticket_id: string;
  readonly finding: Finding;
  readonly action: Action;
  /** From 1. */
  readonly round: number;
  readonly run: RunId;
}

/** A step of an order, about to be carried out or undone. */
export interface Stepping {
  readonly order: RepairOrder;
  /** From 0. */
  readonly number: number;
  readonly service: Service;
}

/** Where marks of acts are: on this host, in this data folder. */
export function placeOf({ dataDir }: Pick<Config, "dataDir">): string {
  return createHash("sha256").update(`${hostname()}\n${dataDir}`).digest("hex").slice(0, 16);
}

/** A step of an action, checked anew, as it has come from elsewhere. */
export function stepOf({ steps }: Action, number: number): ResolvedStep {
  return ResolvedStep.parse(steps[number]);
}

/**
 * Records an intent and requests its receipt, all or nothing.
 *
 * @param undoing whether the step is to be undone
 * @returns false if an earlier attempt recorded it, the ticket is not the run's any more, or a stop is set
 */
export function intending(store: Store, place: string, undoing = false) {
  return async ({ order, number, service }: Stepping): Promise<boolean> => {
    const { ticket_id, finding, action, round, run } = order;
    const { step, kind } = stepOf(action, number);
    const effectId = effectIdOf(action.id, step);
    const id = undoing ? undoIdOf(effectId) : effectId;
    const { runbook, version } = action;
    const effect = {
      ...{ id, ticket_id, service: service.name, action_id: action.id, step },
      undoes: undoing ? effectId : null,
      action: { runbook, version, step, kind, order: action.steps[number] },
      action_sha256: action.sha256,
      detail: { place },
    };
    const what = undoing ? "undo" : "repair";
    const event = {
      key: `${run.run_id}/${what}-intended-${round}-${step}`,
      kind: undoing ? "undo_intended" : "intended",
      data: { round, effect_id: id, runbook, version, step, kind },
    };
    const seal = {
      id: receiptIdOf(run, `${undoing ? "UNDO" : "REMEDIATE"}-${round}-${step}`),
      category: `${what}_intended`,
      actor: LOOP_ACTOR,
      subject: ticket_id,
      action: kind,
      outcome: "intended",
      details: {
        ...{ effect_id: id, action_id: action.id, action_sha256: action.sha256 },
        ...(undoing ? { undoes: effectId } : {}),
        ...{ step: number + 1, steps: action.steps.length, round },
        ...run,
      },
      evidence: { action },
    };
    const subject = stoppable("repair", finding.requested_by);
    return await store.asPlatform().transaction(async (trx) => {
      if (!await intendEffect(trx, effect, run.run_id, subject)) return false;
      await addTicketEvent(trx, ticket_id, event);
      await requestSeal(trx, seal);
      return true;
    });
  };
}

/** Reads the surroundings of an action's steps. */
export async function stepPartsOf(
  { config, store, temporal }: ActivityParts,
  { commands }: Catalogue,
  { ticket_id, action }: RepairOrder,
  service: Service,
): Promise<StepContext> {
  return {
    dataDir: config.dataDir,
    service,
    values: await getRunbookValues(store.asPlatform(), service.name),
    allowNetworks: config.settings.SEALOOP_OUTBOUND_ALLOW,
    commands,
    effectOf: (step) => effectIdOf(action.id, step),
    runWorkflow: startingWorkflows(temporal),
    async notify(message, effectId) {
      await addTicketEvent(store.asPlatform(), ticket_id, {
        key: `notify-${effectId}`,
        kind: "notified",
        data: { message, runbook: action.runbook },
      });
    },
  };
}

/** What an effect that has ended came to. */
export function resultOf({ id, step, state, detail }: EffectRecord, kind: string): StepResult {
  const { code, ok, counts } = detail as {
    code: string;
    ok?: boolean;
    counts?: StepResult["counts"];
  };
  return {
    ...{ id, step: step ?? "", kind, code },
    state: state as StepResult["state"],
    ok: ok === true,
    ...(counts ? { counts } : {}),
  };
}

/** What steps come to as a whole. */
export function effectOf(action: Action, steps: readonly StepResult[]): RepairEffect {
  const acted = steps.filter(({ state }) => state === "done");
  const state = steps.some((step) => step.state === "unknown")
    ? "unknown"
    : acted.length === 0
    ? "not_done"
    : steps.every(({ ok }) => ok)
    ? "done"
    : "partly_done";
  const done = new Set(acted.map(({ step }) => step));
  const undoable = action.steps.some((step, n) =>
    done.has(step.step) && canUndo(stepOf(action, n))
  );
  return { id: action.id, state, code: codeOf(steps), steps, undoable };
}

/** Of what went wrong, else of the last step that changed something, else of the last one. */
function codeOf(steps: readonly StepResult[]): string {
  const last = steps.at(-1)!;
  if (!last.ok) return last.code;
  const acted = steps.findLast(({ state, kind }) => state === "done" && !READ_ONLY_KINDS.has(kind));
  return (acted ?? last).code;
}

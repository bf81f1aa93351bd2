import { cancellationSignal } from "@temporalio/activity";
import type { Service } from "../integrations/host/mod.ts";
import {
  type Catalogue,
  performStep,
  READ_ONLY_KINDS,
  type StepOutcome,
  verifyStep,
} from "../runbooks/mod.ts";
import {
  addTicketEvent,
  addTicketEvents,
  type EffectRecord,
  endEffect,
  getEffect,
  getRunbookValues,
  listEffectsOfAction,
  type TicketEvent,
} from "../store/mod.ts";
import {
  effectOf,
  intending,
  placeOf,
  type RepairOrder,
  resultOf,
  stepOf,
  stepPartsOf,
  type Stepping,
} from "./_effects.ts";
import type { Action, ActiveStop, RepairEffect, RepairResult, StepResult } from "../domain/mod.ts";
import { Problem } from "../contract/mod.ts";
import { actionHash, effectIdOf, sourceHash } from "./_action.ts";
import { type ActivityParts, findService } from "./_parts.ts";
import { holdStep, stopOfRepair } from "./_stops.ts";
import { permitting, type RepairRequest } from "./permit.ts";

/** The step that acts on the world. */
export function remediation(parts: ActivityParts, catalogue: Catalogue) {
  const { store, config } = parts;
  const place = placeOf(config);
  const intend = intending(store, place);
  const permit = permitting(parts);

  /**
   * Carries out the steps of one action, each at most once, until one does not end as it should; none of them unless the
   * guardrails, or a person where they ask for one, have permitted exactly this action.
   *
   * The intent of a step is written and sealed before its first side effect. A second attempt finds it, asks the world
   * whether the effect is there, and ends as `done`, `unknown`, or, where it is proven that nothing was done, acts.
   *
   * A switch that stops everything, loops, or the key that asked for this one holds each step: the intent is not even
   * written under it, and asked again afterwards the action goes on where it was.
   *
   * @throws {Problem} `Conflict`, not retryable, before anything was done: the action is not what its hash says, the
   * runbook or the service has changed since, or the ticket is not this run's any more
   */
  async function remediate(request: RepairRequest): Promise<RepairResult> {
    const { action } = request;
    if (actionHash(action) !== action.sha256) {
      throw conflict(`Action ${action.id} is not the one that its hash names`);
    }
    const permission = await permit(request);
    if (!permission.granted) return { permission, effect: null };
    return { permission, ...await carryOutAll(request) };
  }

  /** The switch that stops a run's repairs now; null: none does. Safe to repeat: it only looks. */
  async function heldBy(order: Pick<RepairOrder, "finding">): Promise<ActiveStop | null> {
    const stop = await stopOfRepair(store, order);
    return stop ? { kind: stop.kind, name: stop.name } : null;
  }

  async function carryOutAll(
    order: RepairOrder,
  ): Promise<{ effect: RepairEffect; held?: ActiveStop }> {
    const { action } = order;
    const [source, effects] = await Promise.all([
      sourceOf(action),
      listEffectsOfAction(store.asPlatform(), action.id),
    ]);
    const known = new Map(effects.map((effect) => [effect.id, effect]));
    const progress: Progress = { source, known, steps: [], concluded: false };
    const { steps } = progress;
    for (const number of action.steps.keys()) {
      const effect = steps.length > 0 && cancellationSignal().aborted
        ? notBegun(order, number, "cancelled")
        : await carryOut(order, number, progress);
      steps.push(effect);
      if (!effect.ok) break;
    }
    const effect = effectOf(action, steps);
    if (progress.held) return { effect, held: progress.held };
    if (!progress.concluded) {
      await addTicketEvent(store.asPlatform(), order.ticket_id, conclusion(order, effect));
    }
    return { effect };
  }

  /** The service, where everything that the action was made from is still as it was. */
  async function sourceOf(action: Action): Promise<Service | undefined> {
    const [service, values] = await Promise.all([
      findService(store.asPlatform(), action.service),
      getRunbookValues(store.asPlatform(), action.service),
    ]);
    const runbook = catalogue.runbooks.find(({ runbook }) => runbook === action.runbook);
    if (!service || !runbook) return undefined;
    const now = sourceHash({ runbook, service, values, catalogue });
    return now === action.source_sha256 ? service : undefined;
  }

  async function carryOut(
    order: RepairOrder,
    number: number,
    progress: Progress,
  ): Promise<StepResult> {
    const { source: service, steps: before } = progress;
    const { step, effectId } = at(order, number);
    const known = progress.known.get(effectId);
    if (known && known.state !== "intended") return resultOf(known, step.kind);
    if (!service) {
      if (known) return await ended(order, number, unknown("runbook_changed"), progress);
      if (before.some(({ state }) => state !== "not_done")) {
        return notBegun(order, number, "runbook_changed");
      }
      throw conflict(`The runbook of ${order.action.service} does not list this action`);
    }
    const stepping = { order, number, service };
    if (READ_ONLY_KINDS.has(step.kind)) return asEffect(order, number, await act(stepping));
    const happened = await once(stepping, known, before.length > 0);
    if (happened !== "held") return await ended(order, number, happened, progress);
    progress.held = await hold(stepping);
    if (!progress.held) return await carryOut(order, number, progress); // let go meanwhile
    return asEffect(order, number, known ? unknown("stopped") : notDone("stopped"));
  }

  async function hold({ order, number }: Stepping): Promise<ActiveStop | undefined> {
    const stop = await stopOfRepair(store, order);
    const { step: { step, kind } } = at(order, number);
    return stop && await holdStep(store, order, { step, kind, undoing: false }, stop);
  }

  /** Intends and acts, or finds that an earlier attempt has, which only the host that it began on can tell. */
  async function once(
    stepping: Stepping,
    known: EffectRecord | undefined,
    begun: boolean,
  ): Promise<StepOutcome | "held"> {
    const { ticket_id } = stepping.order;
    const { step, effectId } = at(stepping.order, stepping.number);
    if (known && await stopOfRepair(store, stepping.order)) return "held";
    const intended = known ??
      (await intend(stepping) || await getEffect(store.asPlatform(), effectId));
    if (intended === true) return await act(stepping);
    if (!intended && await stopOfRepair(store, stepping.order)) return "held";
    if (!intended && begun) return notDone("not_ours_any_more");
    if (!intended) throw conflict(`Ticket ${ticket_id} is not in this run's hands any more`);
    if (intended.state !== "intended") return resultOf(intended, step.kind); // by another attempt, just now
    if (intended.detail.place !== place) return unknown("other_host");
    return await act(stepping);
  }

  async function act({ order, number, service }: Stepping): Promise<StepOutcome> {
    const { step, effectId } = at(order, number);
    const stepParts = await stepPartsOf(parts, catalogue, order, service);
    const happened = await performStep(step, effectId, stepParts);
    if (!happened.ok || happened.state !== "done") return happened;
    const seen = await verifyStep(step, stepParts);
    return seen.ok ? happened : { ...happened, ok: false, code: `not_verified_${seen.code}` };
  }

  /** Writes down what became of a step, and of the whole action where it is the last one. */
  async function ended(
    order: RepairOrder,
    number: number,
    happened: StepOutcome,
    progress: Progress,
  ): Promise<StepResult> {
    const { ticket_id, action, round, run } = order;
    const { step, effectId } = at(order, number);
    const { state, ...detail } = happened;
    const effect = asEffect(order, number, happened);
    const events: TicketEvent[] = action.steps.length === 1 ? [] : [{
      key: `${run.run_id}/step-${round}-${step.step}`,
      kind: happened.ok ? "step_done" : "step_failed",
      data: { round, step: step.step, kind: step.kind, effect_id: effectId, ...happened },
    }];
    progress.concluded = !happened.ok || number === action.steps.length - 1;
    if (progress.concluded) {
      events.push(conclusion(order, effectOf(action, [...progress.steps, effect])));
    }
    await store.asPlatform().transaction(async (trx) => {
      await endEffect(trx, effectId, state, detail);
      await addTicketEvents(trx, ticket_id, events);
    });
    return effect;
  }

  return { remediate, heldBy };
}

/** How far an action is. */
interface Progress {
  /** The service, where all that the action was made from is as it was. */
  readonly source: Service | undefined;
  /** Acts of earlier attempts, by their ids. */
  readonly known: ReadonlyMap<string, EffectRecord>;
  readonly steps: StepResult[];
  /** Whether it is written down what became of the whole. */
  concluded: boolean;
  /** The switch that stops the rest. */
  held?: ActiveStop | undefined;
}

function conclusion(
  { action: { id, runbook, version }, round, run }: RepairOrder,
  { state, code, steps }: RepairEffect,
): TicketEvent {
  const carried = steps.map(({ step, state, code }) => ({ step, state, code }));
  return {
    key: `${run.run_id}/remediated-${round}`,
    kind: state === "done" ? "remediated" : "remediation_failed",
    phase: state === "done" ? "remediated" : undefined,
    data: { round, action_id: id, runbook, version, state, code, steps: carried },
  };
}

function at({ action }: RepairOrder, number: number) {
  const step = stepOf(action, number);
  return { step, effectId: effectIdOf(action.id, step.step) };
}

function asEffect(order: RepairOrder, number: number, happened: StepOutcome): StepResult {
  const { step: { step, kind }, effectId: id } = at(order, number);
  return { id, step, kind, ...happened };
}

const notBegun = (order: RepairOrder, number: number, code: string) =>
  asEffect(order, number, notDone(code));
const notDone = (code: string): StepOutcome => ({ state: "not_done", ok: false, code });
const unknown = (code: string): StepOutcome => ({ state: "unknown", ok: false, code });
const conflict = (message: string) => new Problem("Conflict", message);

import type {
  Action,
  Diagnosis,
  Finding,
  RepairSubject,
  RunId,
} from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { ResolvedStep } from "../../judgement/runbooks/mod.ts";
import { effectIdOf } from "./_action.ts";

/** Work in one round of a run. */
export interface RoundOrder {
  readonly finding: Finding;
  readonly ticket_id: string;
  /** Code of the last probe. */
  readonly code: string;
  /** From 1. */
  readonly round: number;
  readonly run: RunId;
}

/** An action that a run carries out, or undoes, with what it was found by. */
export interface RepairOrder extends RoundOrder {
  readonly action: Action;
  readonly diagnosis: Pick<Diagnosis, "classification" | "citations">;
}

/** A repair that needs permission. */
export interface RepairRequest extends RepairOrder {
  /** Approval by people, once they have given it. */
  readonly approval_id?: string;
}

/** A step of an order, to be carried out or undone. */
export interface StepOrder {
  readonly order: RepairOrder;
  /** From 0. */
  readonly number: number;
  readonly service: Service;
}

/** Returns a step of an action, validated again, as the action was stored in between. */
export function stepOf({ steps }: Action, number: number): ResolvedStep {
  return ResolvedStep.parse(steps[number]);
}

/** Returns what holds of an order's steps are compared with. */
export function subjectOf({ action, finding }: RepairOrder): RepairSubject {
  return { service: action.service, requested_by: finding.requested_by };
}

/** Returns a step of an order with the id of its effect. */
export function stepWithEffectId({ action }: RepairOrder, number: number) {
  return { step: stepOf(action, number), effectId: effectIdOf(action, number) };
}

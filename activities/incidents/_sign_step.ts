import type { PlaceSignature, StepResult } from "../../contract/domain/mod.ts";
import type { TenantParts } from "../parts.ts";
import { effectIdOf, undoIdOf } from "./_action.ts";
import { type RepairOrder, stepOf } from "./_order.ts";

/** A step of an order, or the undoing of it. */
export interface SignedStep {
  readonly order: RepairOrder;
  /** From 0. */
  readonly number: number;
  readonly undoing: boolean;
}

/** Signs results of steps. */
type StepParts = Pick<TenantParts, "place">;

/** Returns the public part of a step's result, which its place signs. */
export function publicResultOf({ id, kind, state, code, counts }: StepResult) {
  return { effect_id: id, kind, state, code, ...(counts ? { counts } : {}) };
}

/** Adds the signature of this place to the result of a step. */
export async function signResult(
  { place }: StepParts,
  { order, number }: Pick<SignedStep, "order" | "number">,
  result: StepResult,
): Promise<StepResult> {
  const signed = await place.sign(signedActOf(order, number), publicResultOf(result));
  return { ...result, signed };
}

/** Signs that a step, or the undoing of it, is intended here. */
export async function signIntent(
  { place }: StepParts,
  { order, number, undoing }: SignedStep,
): Promise<PlaceSignature> {
  const effectId = effectIdOf(order.action, number);
  return await place.sign(signedActOf(order, number), {
    effect_id: undoing ? undoIdOf(effectId) : effectId,
    kind: stepOf(order.action, number).kind,
    state: "intended",
  });
}

const signedActOf = ({ action, round }: RepairOrder, number: number) => ({
  action_id: action.id,
  round,
  step: number + 1,
});

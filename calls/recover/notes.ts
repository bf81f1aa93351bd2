/**
 * Finding what a call did whose process ended in the middle of it. What a call makes is named after the decision that
 * allowed it, or noted under it, so that it can be looked for, and its absence proves that nothing was done.
 */
import { randomBytes } from "node:crypto";
import type { LostCall, Recovery } from "../../contract/mod.ts";
import { CALL_EFFECTS_DAYS, type CallEffects, getCallEffects } from "../../store/calls/mod.ts";
import type { Platform } from "../platform.ts";

/** The parts that recovery needs. */
export type RecoveryParts = Pick<Platform, "store" | "temporal" | "urls">;

/** A day before notes are removed. */
const NOTES_KEPT_MS = (CALL_EFFECTS_DAYS - 1) * 24 * 60 * 60_000;

/** Returns hex characters that a call's own things are named by: those of its decision, where there was one. */
export function idOfCall(decisionId: string | undefined, length: 8 | 12): string {
  return decisionId?.slice("GOV-".length, "GOV-".length + length) ??
    randomBytes(length / 2).toString("hex");
}

/** Recovery of calls that change nothing. */
export const recoverNothing = (): Promise<Recovery> => Promise.resolve({ state: "not_done" });

/** Recovers a call by the note that was made in the transaction of its change. */
export async function recoverNoted(
  { store }: Pick<Platform, "store">,
  call: LostCall,
  outputOf: (effect: CallEffects) => unknown,
): Promise<Recovery> {
  const effect = await getCallEffects(store.db, call.decisionId);
  if (!effect) return notNoted(call);
  return { state: "done", ids: effect.ids, output: await outputOf(effect) };
}

/** Returns what it means that a call has no note: nothing was begun, as long as notes are kept. */
export function notNoted({ since }: LostCall): Recovery {
  return { state: isWithin(since, NOTES_KEPT_MS) ? "not_done" : "unknown" };
}

const isWithin = (since: Date, ms: number) => Date.now() - since.getTime() <= ms;

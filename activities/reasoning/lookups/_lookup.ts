import type { Config } from "../../../config.ts";
import { isChange, type LookupResult, say, type Text } from "../../../contract/domain/mod.ts";
import type { Repair } from "../../../store/incidents/mod.ts";
import type { Db, Store } from "../../../store/mod.ts";

/** Where lookups read. */
interface LookupContext {
  readonly store: Store;
  readonly db: Db;
  readonly config: Config;
}

/** Result of a lookup: sentences that rest on what was read, and their sources. */
export type LookupAnswer = Omit<LookupResult, "lookup">;

/**
 * A read-only tool of the reasoning pipeline.
 *
 * @param subject name or id that it is about; empty: none
 */
export type LookupTool = (context: LookupContext, subject: string) => Promise<LookupAnswer>;

/** The answer of a lookup that found nothing. */
export const NOTHING: LookupAnswer = { says: [], sources: [], data: {} };

/** Most tickets or repairs that an answer lists. */
export const MAX_LISTED = 5;

/** Describes what a repair did, and whether that helped, as far as it was checked. */
export function describeRepair({ state, verified, steps }: Repair): Text {
  const isIdle = state === "done" && !steps.some((step) => !step.undoes && isChange(step));
  const done = isIdle ? say`noted or waited, and changed nothing` : STATES[state] ?? state;
  if (verified === null) {
    return state === "done" && !isIdle ? say`${done}, not checked whether it helped` : done;
  }
  return say`${done}, the check ${verified ? say`passed` : say`still failed`} afterwards`;
}

const STATES: Readonly<Record<string, string>> = {
  done: "carried out",
  not_done: "not carried out, or not all of it",
  intended: "under way",
  unknown: "nobody can tell what it did",
};

/** Returns a number for people, where no more than a most were counted. */
export const atLeast = (n: number, most: number): string => n >= most ? `${n} or more` : `${n}`;

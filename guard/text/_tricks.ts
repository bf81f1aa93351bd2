/**
 * Text that is meant for whoever judges, not for whoever repairs: orders to ignore orders, other roles, dictated verdicts.
 * A ticket may report such text; to report is not to order (see {@linkcode isReported}).
 */
import { setImmediate as othersDone } from "node:timers/promises";
import { IMITATION_PATTERNS } from "./_imitation_patterns.ts";
import { OVERRIDE_PATTERNS } from "./_override_patterns.ts";
import type { Pattern, Trick } from "./_pattern.ts";
import { isOrdinary, isReported } from "./_reported.ts";
import { createPrefilter, wordStarts } from "./_prefilter.ts";
import { VERDICT_PATTERNS } from "./_verdict_patterns.ts";

export type { Trick } from "./_pattern.ts";

const PATTERNS: readonly Pattern[] = [
  ...OVERRIDE_PATTERNS,
  ...VERDICT_PATTERNS,
  ...IMITATION_PATTERNS,
];
const chosenFor = createPrefilter(PATTERNS.map(({ test }) => wordStarts(test.source)));

/** Squeezed forms, for text whose spaces are no guide. */
const SQUEEZED =
  /ignore(?:all|any|the|your|every)?(?:previous|prior|above|earlier|preceding|safety|system)?(?:instruction|prompt|guardrail|directive|guideline)|disregard(?:all|any|the|your)?(?:previous|prior|above|earlier|safety|system)?(?:instruction|prompt|guardrail|rule|directive|polic)|forget(?:all|everything)?(?:previous|prior|your)instruction|approvethisaction|approvedtrue|bypass(?:all|the)?(?:guardrail|safety)|youarenow(?:dan|unrestricted|in)|systemprompt.{0,20}reveal/;

/** Without a word of this, a mode is one of the thing that the ticket is about. */
const STEERS =
  /(?<![\p{L}])(?:approv|allow|permit|guard ?rail|rails|restrict|you|ignore|safety|filter|polic|command|unrestricted|valid|confidence|accept|trust|no rule)/iu;

/**
 * Has all expressions compiled, which takes milliseconds each: when one is first used, again when it is used more often,
 * and both for texts with letters beyond Latin-1 and for those without. What else there is to do comes in between.
 */
export async function warmUpPatterns(): Promise<void> {
  for (const { test, needs = [] } of PATTERNS) {
    await othersDone();
    for (const one of [test, ...needs]) {
      for (const text of ["it is down", "it is down", "it is down…", "it is down…"]) {
        one.lastIndex = 0;
        one.test(text);
      }
      one.lastIndex = 0;
    }
  }
}

/** A trick that was found, and where. */
export interface TrickMatch {
  readonly trick: Trick;
  /** The sentence reports it, and doesn't order it. */
  readonly reported: boolean;
}

/**
 * Looks for text that is meant to steer whoever judges.
 *
 * @param text as read, not longer than some ten thousand characters
 * @param mayReport whether this text is one that reports: an incident does, an action doesn't
 */
export function findTricks(text: string, mayReport: boolean): TrickMatch[] {
  const found: TrickMatch[] = [];
  let looked: Pattern["needs"];
  let may = true;
  const chosen = chosenFor(text);
  for (const [n, { trick, test, reportable, needs }] of PATTERNS.entries()) {
    if (chosen && !chosen.has(n)) continue;
    if (needs !== looked) { // patterns of one language share theirs
      looked = needs;
      may = !needs?.some((one) => !one.test(text));
    }
    if (!may) continue;
    test.lastIndex = 0;
    for (let match = test.exec(text), n = 0; match && n < 8; match = test.exec(text), n++) {
      if (match[0] === "") test.lastIndex++;
      const reported = mayReport && reportable && isReported(text, match.index, match[0]);
      if (trick === "changes the role" && /\bmode\b/i.test(match[0]) && !STEERS.test(text)) {
        continue;
      }
      if (trick === "dictates the verdict" && isOrdinary(text, match.index, match[0])) continue;
      found.push({ trick, reported });
      if (!reported) break;
    }
  }
  if (found.length === 0 && SQUEEZED.test(text.toLowerCase().replace(/[^a-z]+/g, ""))) {
    if (!/\s/.test(text.trim()) || /(?:\b\w\b\W+){8}/.test(text)) {
      found.push({ trick: "overrides instructions", reported: false });
    }
  }
  return found;
}

/**
 * Finds text that is meant to steer the judge: orders to ignore orders, other roles, dictated verdicts. A ticket may report
 * such text without ordering anything (see {@linkcode isReported}).
 */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { type Pattern, readPatterns, type Trick } from "./_pattern.ts";
import { createPrefilter, wordStarts } from "./_prefilter.ts";
import { isOrdinary, isReported } from "./_reported.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("tricks", [
  "squeezed",
]);

const PATTERNS = readPatterns();
const candidatesFor = createPrefilter(PATTERNS.map(({ test }) => wordStarts(test.source)));
/** Matches of one pattern in a text. */
const MAX_MATCHES = 8;

/** Forms without spaces, for text whose spaces are no guide. */
const SQUEEZED = expressions.squeezed;

/** Without one of these words, a mode belongs to the thing that the ticket is about. */
const STEERS =
  /(?<![\p{L}])(?:approv|allow|permit|guard ?rail|rails|restrict|you|ignore|safety|filter|polic|command|unrestricted|valid|confidence|accept|trust|no rule)/iu;

/**
 * Has all expressions compiled, which takes milliseconds each: at the first use, again after some uses, and both for texts
 * with letters beyond Latin-1 and for those without. Other work of the process runs in between.
 */
export async function warmUpPatterns(): Promise<void> {
  for (const { test, needs = [] } of PATTERNS) {
    await endOfTurn();
    for (const expression of [test, ...needs]) {
      for (const text of ["it is down", "it is down", "it is down…", "it is down…"]) {
        expression.lastIndex = 0;
        expression.test(text);
      }
      expression.lastIndex = 0;
    }
  }
}

/** An attempt to steer the judge. */
export interface TrickMatch {
  readonly trick: Trick;
  /** The sentence reports the attempt, and does not make it. */
  readonly reported: boolean;
}

/**
 * Finds attempts to steer the judge.
 *
 * @param text at most some ten thousand characters
 * @param mayReport whether this text may report attempts: an incident may, an action may not
 */
export function findTricks(text: string, mayReport: boolean): TrickMatch[] {
  const found: TrickMatch[] = [];
  const candidates = candidatesFor(text);
  let lastNeeds: Pattern["needs"];
  let hasNeeds = true;
  for (const [n, pattern] of PATTERNS.entries()) {
    if (candidates && !candidates.has(n)) continue;
    if (pattern.needs !== lastNeeds) { // patterns of one language share theirs
      lastNeeds = pattern.needs;
      hasNeeds = pattern.needs?.every((expression) => expression.test(text)) ?? true;
    }
    if (hasNeeds) found.push(...matchesOf(pattern, text, mayReport));
  }
  if (found.length === 0 && hasSqueezedTrick(text)) {
    found.push({ trick: "overrides instructions", reported: false });
  }
  return found;
}

/** Returns the reported matches of a pattern up to the first one that is not reported, and that one. */
function matchesOf({ trick, test, reportable }: Pattern, text: string, mayReport: boolean) {
  const found: TrickMatch[] = [];
  test.lastIndex = 0;
  for (let n = 0; n < MAX_MATCHES; n++) {
    const match = test.exec(text);
    if (!match) break;
    if (match[0] === "") test.lastIndex++;
    const isOwnMode = trick === "changes the role" && /\bmode\b/i.test(match[0]) &&
      !STEERS.test(text);
    if (isOwnMode) continue;
    if (trick === "dictates the verdict" && isOrdinary(text, match.index, match[0])) continue;
    const reported = mayReport && reportable && isReported(text, match.index, match[0]);
    found.push({ trick, reported });
    if (!reported) break;
  }
  return found;
}

function hasSqueezedTrick(text: string): boolean {
  return SQUEEZED.test(text.toLowerCase().replace(/[^a-z]+/g, "")) &&
    (!/\s/.test(text.trim()) || /(?:\b\w\b\W+){8}/.test(text));
}

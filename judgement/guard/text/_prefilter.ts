/**
 * Chooses the expressions that can match a text at all, by the words that their matches begin with. Looking these up takes a
 * fraction of the time of the expressions.
 */
import { START } from "./_pattern.ts";

/** Shortest beginning of a word that is looked up. */
const MIN_PREFIX_LENGTH = 2;
/** A text of these characters alone, among which letters differ from others by case only. */
const PLAIN = /^[\t-~\u00a0-\u017e\u2010-\u203a€]*$/;
/** A character that no such text has. */
const FOREIGN = /^[^\t-~\u00a0-\u017e\u2010-\u203a€](?![?*{])/;
const WORDS = /[\p{L}\p{N}_]+/gu;

/**
 * Returns the beginnings of the words that matches of an expression begin with.
 *
 * @param source of an expression without captures that ignores case
 * @returns undefined: unknown, so that it may match any text
 */
export function wordStarts(source: string): readonly string[] | undefined {
  const all = branchesOf(source).map((branch) => {
    if (branch.startsWith(START)) return headsOf(branch.slice(START.length));
    return headsOf(branch)?.length === 0 ? [] : undefined; // matches within words, but in no plain text
  });
  return all.some((heads) => heads === undefined) ? undefined : all.flatMap((heads) => heads!);
}

/**
 * Makes a function that returns the numbers of the expressions that can match a text; undefined: all of them.
 *
 * @param starts of each expression, as {@linkcode wordStarts} returns them
 */
export function createPrefilter(
  starts: readonly (readonly string[] | undefined)[],
): (text: string) => ReadonlySet<number> | undefined {
  const unconditional: number[] = [];
  const byPrefix = new Map<string, (readonly [start: string, n: number])[]>();
  starts.forEach((heads, n) => {
    if (!heads) unconditional.push(n);
    for (const head of heads ?? []) {
      const prefix = head.slice(0, MIN_PREFIX_LENGTH);
      byPrefix.set(prefix, [...byPrefix.get(prefix) ?? [], [head, n]]);
    }
  });
  return (text) => {
    if (!PLAIN.test(text)) return undefined;
    const chosen = new Set(unconditional);
    for (const word of new Set(text.toLowerCase().match(WORDS))) {
      for (const [start, n] of byPrefix.get(word.slice(0, MIN_PREFIX_LENGTH)) ?? []) {
        if (word.startsWith(start)) chosen.add(n);
      }
    }
    return chosen;
  };
}

/** Splits an expression at the bars outside of groups and classes. */
function branchesOf(source: string): string[] {
  const found: string[] = [];
  let [depth, start, inClass] = [0, 0, false];
  for (let n = 0; n < source.length; n++) {
    const at = source[n]!;
    if (at === "\\") n++;
    else if (inClass) inClass = at !== "]";
    else if (at === "[") inClass = true;
    else if (at === "(") depth++;
    else if (at === ")") depth--;
    else if (at === "|" && depth === 0) {
      found.push(source.slice(start, n));
      start = n + 1;
    }
  }
  return [...found, source.slice(start)];
}

/** Returns the beginnings of the first word of a branch; none where no plain text has it. */
function headsOf(branch: string): string[] | undefined {
  if (branch.startsWith("(?:")) {
    const end = groupEnd(branch);
    if (/^[?*{]/.test(branch.slice(end + 1))) return undefined;
    const inner = branchesOf(branch.slice(3, end)).map(headsOf);
    return inner.some((heads) => heads === undefined) ? undefined : inner.flatMap((it) => it!);
  }
  if (FOREIGN.test(branch)) return [];
  const letters = /^\p{L}*/u.exec(branch)![0];
  const rest = branch.slice(letters.length);
  const head = /^[?*{]/.test(rest) ? letters.slice(0, -1) : letters;
  const isWord = /^[ '’-](?![?*{])/.test(rest) && letters !== ""; // "a partir", "e-mail"
  return head.length < MIN_PREFIX_LENGTH && !isWord ? undefined : [head.toLowerCase()];
}

/** Returns the position where the group ends that an expression begins with. */
function groupEnd(text: string): number {
  let [depth, inClass] = [0, false];
  for (let n = 0; n < text.length; n++) {
    const at = text[n]!;
    if (at === "\\") n++;
    else if (inClass) inClass = at !== "]";
    else if (at === "[") inClass = true;
    else if (at === "(") depth++;
    else if (at === ")" && --depth === 0) return n;
  }
  return text.length;
}

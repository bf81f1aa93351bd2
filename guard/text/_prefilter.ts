/**
 * Which expressions can match a text at all, told by the words that their matches begin with: to look these up takes a
 * fraction of the time that the expressions take.
 */
import { START } from "./_pattern.ts";

/** Shortest beginning of a word that is worth being looked up. */
const SHORTEST = 2;
/** Texts of these characters alone, in which lower case is all that letters can be confused by. */
const PLAIN = /^[\t-~\u00a0-\u017e\u2010-\u203a€]*$/;
/** What no such text has. */
const FOREIGN = /^[^\t-~\u00a0-\u017e\u2010-\u203a€](?![?*{])/;
const WORDS = /[\p{L}\p{N}_]+/gu;

/**
 * Beginnings of the words that matches of an expression begin with.
 *
 * @param source of an expression without captures, whose letters match in either case
 * @returns undefined where that can't be told, so that it may match any text
 */
export function wordStarts(source: string): readonly string[] | undefined {
  const all = branchesOf(source).map((branch) => {
    if (branch.startsWith(START)) return headsOf(branch.slice(START.length));
    return headsOf(branch)?.length === 0 ? [] : undefined; // anywhere in a word, but in no plain text
  });
  return all.some((heads) => heads === undefined) ? undefined : all.flatMap((heads) => heads!);
}

/**
 * Makes a function that says which of many expressions can match a text.
 *
 * @param starts of each, as {@linkcode wordStarts} gives them
 * @returns numbers of those that can; undefined: any
 */
export function createPrefilter(
  starts: readonly (readonly string[] | undefined)[],
): (text: string) => ReadonlySet<number> | undefined {
  const always: number[] = [];
  const byLetters = new Map<string, (readonly [start: string, n: number])[]>();
  starts.forEach((heads, n) => {
    if (!heads) always.push(n);
    for (const head of heads ?? []) {
      const letters = head.slice(0, SHORTEST);
      byLetters.set(letters, [...byLetters.get(letters) ?? [], [head, n]]);
    }
  });
  return (text) => {
    if (!PLAIN.test(text)) return undefined;
    const chosen = new Set(always);
    for (const word of new Set(text.toLowerCase().match(WORDS))) {
      for (const [start, n] of byLetters.get(word.slice(0, SHORTEST)) ?? []) {
        if (word.startsWith(start)) chosen.add(n);
      }
    }
    return chosen;
  };
}

/** Parts between the bars outside of groups and classes. */
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

/** Beginnings of the first word of what has no bars outside of groups; none where no plain text has it. */
function headsOf(branch: string): string[] | undefined {
  if (branch.startsWith("(?:")) {
    const end = closing(branch);
    if (/^[?*{]/.test(branch.slice(end + 1))) return undefined;
    const inner = branchesOf(branch.slice(3, end)).map(headsOf);
    return inner.some((heads) => heads === undefined) ? undefined : inner.flatMap((it) => it!);
  }
  if (FOREIGN.test(branch)) return [];
  const letters = /^\p{L}*/u.exec(branch)![0];
  const rest = branch.slice(letters.length);
  const head = /^[?*{]/.test(rest) ? letters.slice(0, -1) : letters;
  const isWord = /^[ '’-](?![?*{])/.test(rest) && letters !== ""; // "a partir", "e-mail"
  return head.length < SHORTEST && !isWord ? undefined : [head.toLowerCase()];
}

/** Where the group ends that a text begins with. */
function closing(text: string): number {
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

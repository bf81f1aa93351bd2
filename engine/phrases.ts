/** Finds many phrases in a text at once. */
import { wordsOf } from "./text.ts";

/** Finds phrases; what each stands for is up to the caller. */
export interface Finder<T> {
  /** What the phrases that begin at each word stand for; every phrase once. */
  find(words: readonly string[]): T[];
  /** The same in the order of the words, one as often as it occurs. */
  follow(words: readonly string[]): T[];
}

interface Phrase<T> {
  readonly words: readonly string[];
  readonly meaning: T;
}

/** Stands for any number, in phrases as in words. */
const NUMBER = "#";
/** Shortest start of a word that a `*` can complete. */
const SHORTEST = 2;

/**
 * Makes a finder of phrases.
 *
 * @param phrases with what each stands for; `*` at the end of a word stands for any ending, `#` for a number
 */
export function finderOf<T>(phrases: Iterable<readonly [phrase: string, meaning: T]>): Finder<T> {
  const byStart = new Map<string, Phrase<T>[]>();
  for (const [phrase, meaning] of phrases) {
    const words = phrase.split(/\s+/).flatMap((word) => {
      if (word === NUMBER) return [NUMBER];
      const parts = wordsOf(word);
      if (!word.endsWith("*") || parts.length === 0) return parts;
      return [...parts.slice(0, -1), `${parts.at(-1)}*`];
    });
    if (words.length === 0) continue;
    const start = byStart.get(words[0]!);
    if (start) start.push({ words, meaning });
    else byStart.set(words[0]!, [{ words, meaning }]);
  }
  function* at(words: readonly string[], n: number): Generator<Phrase<T>> {
    for (const start of startsOf(words[n]!)) {
      for (const phrase of byStart.get(start) ?? []) if (fits(phrase.words, words, n)) yield phrase;
    }
  }
  const follow = (words: readonly string[]) => words.flatMap((_, n) => [...at(words, n)]);
  return {
    find: (words) => [...new Set(follow(words))].map(({ meaning }) => meaning),
    follow: (words) => follow(words).map(({ meaning }) => meaning),
  };
}

function* startsOf(word: string): Generator<string> {
  yield word;
  for (let end = SHORTEST; end <= word.length; end++) yield `${word.slice(0, end)}*`;
}

function fits(phrase: readonly string[], words: readonly string[], at: number): boolean {
  return phrase.every((wanted, n) => {
    const word = words[at + n];
    if (word === undefined) return false;
    return wanted.endsWith("*") ? word.startsWith(wanted.slice(0, -1)) : word === wanted;
  });
}

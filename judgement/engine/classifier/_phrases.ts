/** Finds many phrases in a text at once. */
import { wordsOf } from "./_text.ts";

/** Finds phrases, and returns the meanings that the caller gave them. */
export interface PhraseFinder<T> {
  /** Returns the meaning of every phrase in the text, each phrase once. */
  findDistinct(words: readonly string[]): T[];
  /** Returns the meanings in the order of the words, a phrase as often as it occurs. */
  findAll(words: readonly string[]): T[];
}

interface Phrase<T> {
  readonly words: readonly string[];
  readonly meaning: T;
}

/** Stands for any number, in phrases as in words. */
const NUMBER = "#";
/** Shortest beginning of a word that a `*` can complete. */
const MIN_PREFIX_LENGTH = 2;

/**
 * Makes a finder of phrases.
 *
 * @param phrases with their meanings; `*` at the end of a word stands for any ending, `#` for a number
 */
export function createPhraseFinder<T>(
  phrases: Iterable<readonly [phrase: string, meaning: T]>,
): PhraseFinder<T> {
  const byFirstWord = new Map<string, Phrase<T>[]>();
  for (const [phrase, meaning] of phrases) {
    const words = phraseWords(phrase);
    if (words.length === 0) continue;
    const others = byFirstWord.get(words[0]!);
    if (others) others.push({ words, meaning });
    else byFirstWord.set(words[0]!, [{ words, meaning }]);
  }
  function* matchesAt(words: readonly string[], at: number): Generator<Phrase<T>> {
    for (const first of firstWords(words[at]!)) {
      for (const phrase of byFirstWord.get(first) ?? []) {
        if (matches(phrase.words, words, at)) yield phrase;
      }
    }
  }
  const matchesIn = (words: readonly string[]) =>
    words.flatMap((_, at) => [...matchesAt(words, at)]);
  return {
    findDistinct: (words) => [...new Set(matchesIn(words))].map(({ meaning }) => meaning),
    findAll: (words) => matchesIn(words).map(({ meaning }) => meaning),
  };
}

function phraseWords(phrase: string): string[] {
  return phrase.split(/\s+/).flatMap((word) => {
    if (word === NUMBER) return [NUMBER];
    const parts = wordsOf(word);
    if (!word.endsWith("*") || parts.length === 0) return parts;
    return [...parts.slice(0, -1), `${parts.at(-1)}*`];
  });
}

/** Yields the word itself and each of its beginnings with a `*`. */
function* firstWords(word: string): Generator<string> {
  yield word;
  for (let end = MIN_PREFIX_LENGTH; end <= word.length; end++) yield `${word.slice(0, end)}*`;
}

function matches(phrase: readonly string[], words: readonly string[], at: number): boolean {
  return phrase.every((wanted, n) => {
    const word = words[at + n];
    if (word === undefined) return false;
    return wanted.endsWith("*") ? word.startsWith(wanted.slice(0, -1)) : word === wanted;
  });
}

/** Phrases of the lexicon in a text, and the features that follow from them. */
import type { Clause } from "./_clauses.ts";
import { createPhraseFinder } from "./_phrases.ts";
import type { Lexicon } from "./_word_lists.ts";

/** The concept of words that say little on their own. */
export const HINTS = "hints";

/** A phrase of the lexicon. */
export interface Phrase {
  readonly category: string;
  readonly concept: string;
  /** Longer phrases count more. */
  readonly weight: number;
}

/** A phrase in a text. */
export interface PhraseMatch {
  readonly phrase: Phrase;
  /** It stands in a clause that says that something is in order. */
  readonly isFine: boolean;
  /** It stands in the first clause. */
  readonly isFirst: boolean;
}

/** Makes a function that finds the phrases of a lexicon in the clauses of a text. */
export function createLexiconFinder(
  lexicon: Lexicon,
): (clauses: readonly Clause[]) => PhraseMatch[] {
  const finder = createPhraseFinder<Phrase>(
    Object.entries(lexicon).flatMap(([category, concepts]) =>
      Object.entries(concepts).flatMap(([concept, phrases]) =>
        phrases.map((phrase) =>
          [phrase, { category, concept, weight: weightOf(concept, phrase) }] as const
        )
      )
    ),
  );
  return (clauses) =>
    clauses.flatMap(({ words, isFine }, n) =>
      finder.findDistinct(words).map((phrase) => ({ phrase, isFine, isFirst: n === 0 }))
    );
}

/**
 * Weighs the categories and concepts that phrases name.
 *
 * @param ignored phrases that are left out
 */
export function weighConcepts(
  matches: readonly PhraseMatch[],
  ignored?: ReadonlySet<Phrase>,
): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (name: string, by: number) => sums.set(name, (sums.get(name) ?? 0) + by);
  for (const { phrase, isFine, isFirst } of matches) {
    if (ignored?.has(phrase)) continue;
    const { category, concept, weight } = phrase;
    const prefix = isFine ? "fine " : "";
    add(`${prefix}${category}`, weight);
    add(`${prefix}${category} ${concept}`, weight);
    if (isFirst) add(`first ${prefix}${category}`, weight);
  }
  for (const [name, sum] of sums) sums.set(name, Math.log2(1 + sum));
  return sums;
}

/** Returns the phrases that exactly one of several texts has. */
export function findLonePhrases(texts: readonly (readonly PhraseMatch[])[]): Set<Phrase> {
  const once = new Set<Phrase>();
  const repeated = new Set<Phrase>();
  for (const matches of texts) {
    for (const phrase of new Set(matches.map((match) => match.phrase))) {
      if (repeated.has(phrase)) continue;
      if (once.delete(phrase)) repeated.add(phrase);
      else once.add(phrase);
    }
  }
  return once;
}

function weightOf(concept: string, phrase: string): number {
  if (concept === HINTS) return 0.35;
  if (/^\p{L}{1,3}\*?$/u.test(phrase)) return 0.7;
  return 1 + 0.5 * (phrase.split(" ").length - 1);
}

/** The terms by which articles are found: words, pairs of words, concepts, and meanings that five languages share. */
import { HINTS } from "./_lexicon.ts";
import { createPhraseFinder } from "./_phrases.ts";
import { stems, wordsOf } from "./_text.ts";
import type { WordLists } from "./_word_lists.ts";

/** Weight of a term in a query, by its kind. */
const KIND_WEIGHTS = { word: 1, pair: 1, concept: 1, meaning: 0.7 } as const;

/** A term of a text. */
export interface Term {
  /** Terms of different kinds have different names. */
  readonly name: string;
  readonly kind: keyof typeof KIND_WEIGHTS;
}

/** Returns the terms of a text, as often as they occur. */
export type TermReader = (text: string) => Term[];

/** Returns the weight of a term in a query, against 1 for a word. */
export function weightOfKind({ kind }: Term): number {
  return KIND_WEIGHTS[kind];
}

/**
 * Makes a function that returns the terms of a text: words in plain form and cut short, pairs of neighbours, concepts of
 * the lexicon, and meanings of the thesaurus.
 */
export function createTermReader(
  { lexicon, thesaurus }: Pick<WordLists, "lexicon" | "thesaurus">,
): TermReader {
  const finder = createPhraseFinder<Term>([
    ...Object.entries(lexicon).flatMap(([category, concepts]) =>
      Object.entries(concepts).filter(([concept]) => concept !== HINTS)
        .flatMap(([concept, phrases]) => {
          const term: Term = { name: `=${category} ${concept}`, kind: "concept" };
          return phrases.map((phrase) => [phrase, term] as const);
        })
    ),
    ...Object.entries(thesaurus).flatMap(([meaning, words]) => {
      const term: Term = { name: `~${meaning}`, kind: "meaning" };
      return words.map((word) => [word, term] as const);
    }),
  ]);
  return (text) => {
    const words = wordsOf(text);
    const names = stems(words);
    return [
      ...names.map((name): Term => ({ name, kind: "word" })),
      ...names.slice(1).map((name, n): Term => ({ name: `${names[n]} ${name}`, kind: "pair" })),
      ...finder.findAll(words),
    ];
  };
}

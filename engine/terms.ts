/** What texts are found by: their words, which words stand together, and what they mean in any of five languages. */
import type { Words } from "./lexicon.ts";
import { finderOf } from "./phrases.ts";
import { wordsOf } from "./text.ts";

/** Kinds of terms, and how much one of each counts. */
const COUNTS = { word: 1, pair: 1, concept: 1, meaning: 0.7 } as const;

/** A term of a text. */
export interface Term {
  /** Terms of different kinds have different names. */
  readonly name: string;
  readonly kind: keyof typeof COUNTS;
}

/** Terms of a text, as often as they occur. */
export type TermsIn = (text: string) => Term[];

/** Letters by which words are told apart, so that endings do not matter. */
const STEM = 7;
/** The concept of words that alone say little. */
const HINTS = "hints";

/** How much a term counts beside a word. */
export const countOf = ({ kind }: Term): number => COUNTS[kind];

/**
 * A function that finds the terms of texts: words in a plain form and cut short, pairs of neighbours, concepts of the
 * lexicon, and meanings of the thesaurus.
 */
export function termsBy({ lexicon, thesaurus }: Pick<Words, "lexicon" | "thesaurus">): TermsIn {
  const { follow } = finderOf<Term>([
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
    const stems = words.filter((word) => word.length > 1 && !word.startsWith("#"))
      .map((word) => word.slice(0, STEM));
    return [
      ...stems.map((name): Term => ({ name, kind: "word" })),
      ...stems.slice(1).map((stem, n): Term => ({ name: `${stems[n]} ${stem}`, kind: "pair" })),
      ...follow(words),
    ];
  };
}

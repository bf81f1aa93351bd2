/** Reads texts for the models: the part of the work that does not depend on what has been learnt. */
import { createClauseSplitter } from "./_clauses.ts";
import { countFeatures, type FeatureCounts } from "./_features.ts";
import { createLexiconFinder, type PhraseMatch } from "./_lexicon.ts";
import { createPhraseFinder } from "./_phrases.ts";
import { createSignalReader, type Signals } from "./_severity_signals.ts";
import { MAX_TEXT_LENGTH } from "./_text.ts";
import type { WordLists } from "./_word_lists.ts";

/** A text as the models take it. */
export interface ReadText {
  readonly counts: FeatureCounts;
  readonly phrases: readonly PhraseMatch[];
  readonly signals: Signals;
}

/** Reads a text. */
export type TextReader = (text: string) => ReadText;

/** Makes a reader of texts. */
export function createTextReader(lists: WordLists): TextReader {
  const { findAll } = createPhraseFinder(
    Object.entries(lists.thesaurus).flatMap(([meaning, words]) =>
      words.map((word) => [word, meaning] as const)
    ),
  );
  const splitClauses = createClauseSplitter(lists.clauses);
  const findPhrases = createLexiconFinder(lists.lexicon);
  const readSignals = createSignalReader(lists);
  return (whole) => {
    const text = whole.slice(0, MAX_TEXT_LENGTH);
    const clauses = splitClauses(text);
    return {
      counts: countFeatures(clauses, findAll),
      phrases: findPhrases(clauses),
      signals: readSignals(text, clauses),
    };
  };
}

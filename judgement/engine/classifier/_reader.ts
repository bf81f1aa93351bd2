/** Reads texts for the models: the part of the work that does not depend on what has been learnt. */
import type { Severity } from "../../../contract/domain/mod.ts";
import { createClauseSplitter } from "./_clauses.ts";
import { countFeatures, type FeatureCounts } from "./_features.ts";
import { createLexiconFinder, type PhraseMatch } from "./_lexicon.ts";
import { createPhraseFinder } from "./_phrases.ts";
import {
  createLowestSeverityReader,
  createSignalReader,
  type Signals,
} from "./_severity_signals.ts";
import { MAX_TEXT_LENGTH, wordsOf } from "./_text.ts";
import type { WordLists } from "./_word_lists.ts";

/** A text as the models take it. */
export interface ReadText {
  readonly counts: FeatureCounts;
  readonly phrases: readonly PhraseMatch[];
  readonly signals: Signals;
  /** Severity that the fault has at least; undefined: the words do not say. */
  readonly lowestSeverity: Severity | undefined;
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
  const readLowestSeverity = createLowestSeverityReader(lists);
  const knownWords = new Set(
    [...Object.values(lists.lexicon), lists.thesaurus, lists.signals]
      .flatMap((concepts) => Object.values(concepts).flat())
      .flatMap((phrase) => wordsOf(phrase)),
  );
  return (whole) => {
    const text = whole.slice(0, MAX_TEXT_LENGTH);
    const clauses = splitClauses(withoutNames(text, knownWords));
    const signals = readSignals(text, clauses);
    return {
      counts: countFeatures(clauses, findAll),
      phrases: findPhrases(clauses),
      signals,
      lowestSeverity: readLowestSeverity(clauses, signals),
    };
  };
}

/** A word with a capital inside a sentence. */
const NAME = /(?<=[\p{Ll}\d,;] )\p{Lu}\p{Ll}[\p{L}\d]*/gu;
/** Where more words than one in so many look like names, the language writes its nouns so. */
const MAX_NAMES = 0.15;

/** Leaves out names that no word list has: what a product is called says nothing of its fault. */
function withoutNames(text: string, known: ReadonlySet<string>): string {
  const names = text.match(NAME)?.length ?? 0;
  if (names > MAX_NAMES * text.split(/\s+/).length) return text;
  return text.replace(NAME, (name) => wordsOf(name).some((word) => known.has(word)) ? name : "");
}

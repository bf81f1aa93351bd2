/** The hand-written word lists, as the files give them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { ClauseRules, PatternStep } from "./_clauses.ts";
import { CATEGORIES } from "./categories.ts";

/** Phrases by concept. */
type Concepts = Readonly<Record<string, readonly string[]>>;

/** Phrases by category and concept. */
export type Lexicon = Readonly<Record<string, Concepts>>;

/** All hand-written word lists. */
export interface WordLists {
  /** Words of the trade. */
  readonly lexicon: Lexicon;
  /** Signals of severity. */
  readonly signals: Concepts;
  /** Words of five languages with the same meaning. */
  readonly thesaurus: Concepts;
  readonly clauses: ClauseRules;
  /** Beginnings of the words for what a number counts. */
  readonly counted: Readonly<Record<"people" | "sites", readonly string[]>>;
}

/** Files and folders, in the engine's folder, that {@linkcode readWordLists} reads. */
export const WORD_LIST_FILES: readonly string[] = [
  "lexicon",
  "severity.yaml",
  "thesaurus.yaml",
  "clauses.yaml",
  "counted.yaml",
];

const WordList = z.string().transform((text) =>
  text.split(",").map((word) => word.trim().replace(/\s+/g, " ")).filter((word) => word !== "")
);
const ConceptsSchema = z.record(z.string(), WordList);
const Step = z.string().transform((text): PatternStep => {
  if (text === "end") return text;
  const maxWords = /^at most (\d+) words?$/.exec(text)?.[1];
  return maxWords === undefined ? { words: WordList.parse(text) } : { maxWords: Number(maxWords) };
});
const Patterns = z.array(z.array(Step));
const ClausesSchema = z.strictObject({
  conjunctions: WordList,
  fine: Patterns,
  not_fine: Patterns,
}).transform(({ not_fine, ...rest }): ClauseRules => ({ ...rest, notFine: not_fine }));
const CountedSchema = z.strictObject({ people: WordList, sites: WordList });

/** Reads the word lists. @throws {z.ZodError} a file has another shape */
export function readWordLists(folder: string): WordLists {
  const readConcepts = (...path: string[]) => ConceptsSchema.parse(readYaml(join(folder, ...path)));
  return {
    lexicon: Object.fromEntries(
      CATEGORIES.map((category) => [category, readConcepts("lexicon", `${category}.yaml`)]),
    ),
    signals: readConcepts("severity.yaml"),
    thesaurus: readConcepts("thesaurus.yaml"),
    clauses: ClausesSchema.parse(readYaml(join(folder, "clauses.yaml"))),
    counted: CountedSchema.parse(readYaml(join(folder, "counted.yaml"))),
  };
}

function readYaml(path: string): unknown {
  return parse(readFileSync(path, "utf8"));
}

/** The hand-written words of the trade, and what they say of a text. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { CATEGORIES } from "./labels.ts";
import { type Finder, finderOf } from "./phrases.ts";
import type { Clause } from "./text.ts";

/** Phrases by concept. */
export type Concepts = Readonly<Record<string, readonly string[]>>;

/** Phrases by category and concept. */
export type Lexicon = Readonly<Record<string, Concepts>>;

const PHRASES = z.string().transform((text) =>
  text.split(",").map((phrase) => phrase.trim().replace(/\s+/g, " ")).filter((phrase) =>
    phrase !== ""
  )
);
const CONCEPTS = z.record(z.string(), PHRASES);
/** The concept of words that alone say little. */
const HINTS = "hints";

/** A phrase of the lexicon. */
export interface Phrase {
  readonly category: string;
  readonly concept: string;
  /** Longer phrases say more. */
  readonly weight: number;
}

/** A phrase in a text. */
export interface Found {
  readonly phrase: Phrase;
  /** It stands in a clause that says that something is in order. */
  readonly fine: boolean;
  /** It stands in the first clause. */
  readonly first: boolean;
}

/** All that is known by hand of words. */
export interface Words {
  /** Words of the trade. */
  readonly lexicon: Lexicon;
  /** Signals of severity. */
  readonly signals: Concepts;
  /** Words of five languages that mean the same. */
  readonly thesaurus: Concepts;
}

/** Files and folders, below that of the engine, that {@linkcode readWords} reads. */
export const WORDS_IN: readonly string[] = ["lexicon", "severity.yaml", "thesaurus.yaml"];

/** Reads what is known by hand of words. @throws {z.ZodError} a file has another shape */
export function readWords(folder: string): Words {
  return {
    lexicon: Object.fromEntries(
      CATEGORIES.map((category) => [category, read(join(folder, "lexicon", `${category}.yaml`))]),
    ),
    signals: read(join(folder, "severity.yaml")),
    thesaurus: read(join(folder, "thesaurus.yaml")),
  };
}

function read(path: string): Concepts {
  return CONCEPTS.parse(parse(readFileSync(path, "utf8")));
}

/** A function that finds the phrases of a lexicon in the clauses of a text. */
export function phrasesBy(lexicon: Lexicon): (clauses: readonly Clause[]) => Found[] {
  const finder: Finder<Phrase> = finderOf(
    Object.entries(lexicon).flatMap(([category, concepts]) =>
      Object.entries(concepts).flatMap(([concept, phrases]) =>
        phrases.map((phrase) =>
          [phrase, { category, concept, weight: weightOf(concept, phrase) }] as const
        )
      )
    ),
  );
  return (clauses) =>
    clauses.flatMap(({ words, fine }, n) =>
      finder.find(words).map((phrase) => ({ phrase, fine, first: n === 0 }))
    );
}

/**
 * Which categories and concepts phrases speak of, and how much.
 *
 * @param without phrases that are passed over
 */
export function conceptsOf(
  found: readonly Found[],
  without?: ReadonlySet<Phrase>,
): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (name: string, by: number) => sums.set(name, (sums.get(name) ?? 0) + by);
  for (const { phrase, fine, first } of found) {
    if (without?.has(phrase)) continue;
    const { category, concept, weight } = phrase;
    const kind = fine ? "fine " : "";
    add(`${kind}${category}`, weight);
    add(`${kind}${category} ${concept}`, weight);
    if (first) add(`first ${kind}${category}`, weight);
  }
  for (const [name, sum] of sums) sums.set(name, Math.log2(1 + sum));
  return sums;
}

/** Phrases that a single one of many texts has. */
export function lonePhrases(texts: readonly (readonly Found[])[]): Set<Phrase> {
  const once = new Set<Phrase>();
  const often = new Set<Phrase>();
  for (const found of texts) {
    for (const phrase of new Set(found.map(({ phrase }) => phrase))) {
      if (often.has(phrase)) continue;
      if (once.delete(phrase)) often.add(phrase);
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

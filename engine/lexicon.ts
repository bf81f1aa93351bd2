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

interface Meaning {
  readonly category: string;
  readonly concept: string;
  /** Longer phrases say more. */
  readonly weight: number;
}

/** Reads the words of the trade, a file a category. @throws {z.ZodError} one has another shape */
export function readLexicon(folder: string): Lexicon {
  return Object.fromEntries(
    CATEGORIES.map((category) => [category, read(join(folder, "lexicon", `${category}.yaml`))]),
  );
}

/** Reads the signals of severity. @throws {z.ZodError} the file has another shape */
export function readSignals(folder: string): Concepts {
  return read(join(folder, "severity.yaml"));
}

function read(path: string): Concepts {
  return CONCEPTS.parse(parse(readFileSync(path, "utf8")));
}

/** A function that says which categories and concepts the clauses of a text speak of, and how much. */
export function conceptsBy(
  lexicon: Lexicon,
): (clauses: readonly Clause[]) => Map<string, number> {
  const finder: Finder<Meaning> = finderOf(
    Object.entries(lexicon).flatMap(([category, concepts]) =>
      Object.entries(concepts).flatMap(([concept, phrases]) =>
        phrases.map((phrase) =>
          [phrase, { category, concept, weight: weightOf(concept, phrase) }] as const
        )
      )
    ),
  );
  return (clauses) => {
    const sums = new Map<string, number>();
    const add = (name: string, by: number) => sums.set(name, (sums.get(name) ?? 0) + by);
    for (const [n, { words, fine }] of clauses.entries()) {
      for (const { category, concept, weight } of finder.find(words)) {
        const kind = fine ? "fine " : "";
        add(`${kind}${category}`, weight);
        add(`${kind}${category} ${concept}`, weight);
        if (n === 0) add(`first ${kind}${category}`, weight);
      }
    }
    for (const [name, sum] of sums) sums.set(name, Math.log2(1 + sum));
    return sums;
  };
}

function weightOf(concept: string, phrase: string): number {
  if (concept === HINTS) return 0.35;
  if (/^\p{L}{1,3}\*?$/u.test(phrase)) return 0.7;
  return 1 + 0.5 * (phrase.split(" ").length - 1);
}

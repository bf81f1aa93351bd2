/**
 * What a learner sees of a text: words, pairs of words, pieces of words, which carry over to inflected forms and to
 * languages that share a stem, and what hand-written lists find in it.
 */
import type { Clause } from "./text.ts";

/** Features of a text: cells of a table of {@linkcode CELLS} and their weights. */
export interface Features {
  readonly cells: Int32Array;
  readonly weights: Float32Array;
}

/** Size of the table into which names of features are hashed. */
export const CELLS: number = 2 ** 18;

/** How much each kind counts beside the others. */
export interface Shares {
  readonly words: number;
  readonly pairs: number;
  readonly pieces: number;
  readonly meanings: number;
  readonly sayings: number;
}

const KINDS = ["words", "pairs", "pieces", "meanings", "sayings"] as const;

/** Words without a meaning for any category. */
const EMPTY: ReadonlySet<string> = new Set(
  [
    "a an the of to in on at for and or is are was be it this that with by from as we i you he she",
    "they our my your der die das und ist ein eine zu den dem mit von im in auf fur es wir ich sie",
    "sich des auch le la les un une et est de du des en pour que qui nous je il elle sur au aux ce",
    "cette el los las y es una unos para que se nos lo del al con por su ve bir bu da icin ile",
  ].join(" ").split(" "),
);

/** What a word in the first clause counts, which mostly names the fault; the others 1. */
const HEAD = 1.5;

/** How often names occur, by cell. */
export type Counts = Map<number, number>;

/** Counts of the names of one kind in clauses. What is said to be fine counts under names of its own. */
function countsOf(
  clauses: readonly Clause[],
  namesOf: (clause: Clause) => Iterable<number>,
): Counts {
  const counts: Counts = new Map();
  for (const [n, clause] of clauses.entries()) {
    for (const hash of namesOf(clause)) {
      const cell = (clause.fine ? Math.imul(hash, 31) : hash) >>> 14;
      counts.set(cell, (counts.get(cell) ?? 0) + (n === 0 ? HEAD : 1));
    }
  }
  return counts;
}

/** Counts of each kind of a text. */
export interface Counted {
  readonly words: Counts;
  readonly pairs: Counts;
  readonly pieces: Counts;
  readonly meanings: Counts;
  readonly sayings: Counts;
}

/**
 * Counts words, pairs of words, pieces of words, meanings and pairs of meanings.
 *
 * @param meaningsOf words of a clause, in order
 */
export function count(
  clauses: readonly Clause[],
  meaningsOf: (words: readonly string[]) => readonly string[],
): Counted {
  return {
    words: countsOf(clauses, function* ({ words }) {
      for (const word of words) if (!EMPTY.has(word) && word !== "#") yield hashOf("w", word);
    }),
    pairs: countsOf(clauses, function* ({ words }) {
      for (let n = 1; n < words.length; n++) yield hashOf("p", `${words[n - 1]} ${words[n]}`);
    }),
    pieces: countsOf(clauses, function* ({ words }) {
      for (const word of words) if (!EMPTY.has(word) && word[0] !== "#") yield* piecesOf(word);
    }),
    meanings: countsOf(clauses, function* ({ words }) {
      for (const meaning of new Set(meaningsOf(words))) yield hashOf("m", meaning);
    }),
    sayings: countsOf(clauses, function* ({ words }) {
      const meanings = meaningsOf(words).filter((it, n, all) => n === 0 || it !== all[n - 1]);
      for (let n = 1; n < meanings.length; n++) {
        yield hashOf("s", `${meanings[n - 1]} ${meanings[n]}`);
      }
    }),
  };
}

function* piecesOf(word: string): Generator<number> {
  const framed = `^${word}$`;
  for (const length of [3, 4, 5]) {
    for (let at = 0; at + length <= framed.length; at++) {
      yield hashOf("c", framed.slice(at, at + length));
    }
  }
}

/** FNV-1a, stirred once more so that the upper bits depend on every letter. */
export function hashOf(kind: string, name: string): number {
  let hash = 0x811c9dc5 ^ kind.charCodeAt(0);
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d);
}

/** How rare each cell is among texts: ln((1 + texts) / (1 + texts with it)) + 1. */
export function rarityOf(texts: readonly Counted[]): Float32Array {
  const among = new Float32Array(CELLS);
  for (const counted of texts) {
    for (const kind of KINDS) for (const cell of counted[kind].keys()) among[cell]!++;
  }
  return among.map((n) => Math.log((1 + texts.length) / (1 + n)) + 1);
}

/**
 * Weighs counts by rarity; the squares of each kind sum up to the square of its share.
 *
 * @param extra names with weights that are taken as they are
 */
export function weigh(
  counted: Counted,
  rarity: (cell: number) => number,
  shares: Shares,
  extra: ReadonlyMap<string, number>,
): Features {
  const cells: number[] = [];
  const weights: number[] = [];
  for (const kind of KINDS) {
    const from = weights.length;
    let square = 0;
    for (const [cell, n] of counted[kind]) {
      const weight = (1 + Math.log2(n)) * rarity(cell);
      square += weight ** 2;
      cells.push(cell);
      weights.push(weight);
    }
    const scale = shares[kind] / Math.sqrt(square || 1);
    for (let n = from; n < weights.length; n++) weights[n]! *= scale;
  }
  for (const [name, weight] of extra) {
    cells.push(hashOf("x", name) >>> 14);
    weights.push(weight);
  }
  cells.push(CELLS); // the bias
  weights.push(1);
  return { cells: Int32Array.from(cells), weights: Float32Array.from(weights) };
}

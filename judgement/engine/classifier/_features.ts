/**
 * The features of a text that models learn from: words, pairs of words, pieces of words (which carry over to inflected
 * forms and to languages that share a stem), and matches of the hand-written lists.
 */
import type { Clause } from "./_clauses.ts";

/** Features of a text: cells of a table of {@linkcode CELLS}, and their weights. */
export interface Features {
  readonly cells: Int32Array;
  readonly weights: Float32Array;
}

/** Size of the table into which names of features are hashed. */
export const CELLS: number = 2 ** 18;

const KINDS = ["words", "pairs", "pieces", "meanings", "meaning_pairs"] as const;

type Kind = (typeof KINDS)[number];

/** Weight of each kind of feature against the others. */
export type KindWeights = Readonly<Record<Kind, number>>;

/** Counts of features, by cell. */
type Counts = Map<number, number>;

/** Counts of a text, by kind of feature. */
export type FeatureCounts = Readonly<Record<Kind, Counts>>;

const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a an the of to in on at for and or is are was be it this that with by from as we i you he she",
    "they our my your der die das und ist ein eine zu den dem mit von im in auf fur es wir ich sie",
    "sich des auch le la les un une et est de du des en pour que qui nous je il elle sur au aux ce",
    "cette el los las y es una unos para que se nos lo del al con por su ve bir bu da icin ile",
  ].join(" ").split(" "),
);

/** Count of a feature in the first clause, which mostly names the fault; 1 in the others. */
const FIRST_CLAUSE_COUNT = 1.5;

/** Meanings of a clause that are further apart are no pair. */
const MAX_APART = 6;

/**
 * Counts the features of a text.
 *
 * @param meaningsOf returns the meanings of a clause's words, in order
 */
export function countFeatures(
  clauses: readonly Clause[],
  meaningsOf: (words: readonly string[]) => readonly string[],
): FeatureCounts {
  return {
    words: countKind(clauses, function* ({ words }) {
      for (const word of words) {
        if (!STOP_WORDS.has(word) && word !== "#") yield hashName("w", word);
      }
    }),
    pairs: countKind(clauses, function* ({ words }) {
      for (let n = 1; n < words.length; n++) yield hashName("p", `${words[n - 1]} ${words[n]}`);
    }),
    pieces: countKind(clauses, function* ({ words }) {
      for (const word of words) {
        if (!STOP_WORDS.has(word) && word[0] !== "#") yield* piecesOf(word);
      }
    }),
    meanings: countKind(clauses, function* ({ words }) {
      for (const meaning of new Set(meaningsOf(words))) yield hashName("m", meaning);
    }),
    meaning_pairs: countKind(clauses, function* ({ words }) {
      const meanings = [...new Set(meaningsOf(words))];
      for (const [n, one] of meanings.entries()) {
        for (const other of meanings.slice(n + 1, n + 1 + MAX_APART)) {
          yield hashName("s", [one, other].sort().join(" "));
        }
      }
    }),
  };
}

/** Counts the features of one kind. Those of clauses that say that something is fine count under names of their own. */
function countKind(
  clauses: readonly Clause[],
  hashesOf: (clause: Clause) => Iterable<number>,
): Counts {
  const counts: Counts = new Map();
  for (const [n, clause] of clauses.entries()) {
    for (const hash of hashesOf(clause)) {
      const cell = (clause.isFine ? Math.imul(hash, 31) : hash) >>> 14;
      counts.set(cell, (counts.get(cell) ?? 0) + (n === 0 ? FIRST_CLAUSE_COUNT : 1));
    }
  }
  return counts;
}

function* piecesOf(word: string): Generator<number> {
  const framed = `^${word}$`;
  for (const length of [3, 4, 5]) {
    for (let at = 0; at + length <= framed.length; at++) {
      yield hashName("c", framed.slice(at, at + length));
    }
  }
}

/** FNV-1a, mixed once more so that the upper bits depend on every letter. */
function hashName(kind: string, name: string): number {
  let hash = 0x811c9dc5 ^ kind.charCodeAt(0);
  for (let n = 0; n < name.length; n++) hash = Math.imul(hash ^ name.charCodeAt(n), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d);
}

/** Returns how rare each cell is among texts: ln((1 + texts) / (1 + texts with it)) + 1. */
export function measureRarity(texts: readonly FeatureCounts[]): Float32Array {
  const textsWith = new Float32Array(CELLS);
  for (const counts of texts) {
    for (const kind of KINDS) for (const cell of counts[kind].keys()) textsWith[cell]!++;
  }
  return textsWith.map((n) => Math.log((1 + texts.length) / (1 + n)) + 1);
}

/**
 * Weighs counts by rarity. The squares of each kind's weights add up to the square of that kind's weight.
 *
 * @param extra features by name, with weights that are taken as they are
 */
export function weighFeatures(
  counts: FeatureCounts,
  rarityOf: (cell: number) => number,
  kindWeights: KindWeights,
  extra: ReadonlyMap<string, number>,
): Features {
  const cells: number[] = [];
  const weights: number[] = [];
  for (const kind of KINDS) {
    const from = weights.length;
    let square = 0;
    for (const [cell, n] of counts[kind]) {
      const weight = (1 + Math.log2(n)) * rarityOf(cell);
      square += weight ** 2;
      cells.push(cell);
      weights.push(weight);
    }
    const scale = kindWeights[kind] / Math.sqrt(square || 1);
    for (let n = from; n < weights.length; n++) weights[n]! *= scale;
  }
  for (const [name, weight] of extra) {
    cells.push(hashName("x", name) >>> 14);
    weights.push(weight);
  }
  cells.push(CELLS); // the bias
  weights.push(1);
  return { cells: Int32Array.from(cells), weights: Float32Array.from(weights) };
}

/** Models over one view of a text, two of which category it belongs to and one of how bad it is. */
import { SEVERITIES, type Severity } from "../domain/mod.ts";
import { countGroups } from "./bayes.ts";
import {
  CELLS,
  count,
  type Counted,
  type Features,
  rarityOf,
  type Shares,
  weigh,
} from "./features.ts";
import { CATEGORIES, type Category } from "./labels.ts";
import {
  conceptsOf,
  type Found,
  lonePhrases,
  type Phrase,
  phrasesBy,
  type Words,
} from "./lexicon.ts";
import type { Article, LabelledReport } from "./knowledge.ts";
import { finderOf } from "./phrases.ts";
import { learn, softmax, type Weights } from "./linear.ts";
import { type Signals, signalsBy } from "./severity.ts";
import { clausesOf, LONGEST } from "./text.ts";

/** A text as the models see it, before it is known which words are rare. */
export interface Reading {
  readonly counted: Counted;
  readonly phrases: readonly Found[];
  readonly signals: Signals;
}

/** What the models make of a text. */
export interface Judgement {
  /** Of each category, in the order of {@linkcode CATEGORIES}; they sum up to 1. */
  readonly categories: readonly number[];
  readonly severity: Severity;
}

/** Judges texts. @param without phrases of the lexicon that are passed over */
export type Judge = (reading: Reading, without?: ReadonlySet<Phrase>) => Judgement;

/** What can be learnt from; with readings, as reading takes longer than learning. */
export interface Lesson {
  readonly reading: Reading;
  readonly category: Category;
  /** Undefined: only the category is to be learnt from it. */
  readonly severity: Severity | undefined;
  /** How much it counts beside the others, > 0. */
  readonly importance: number;
}

const CATEGORY_SHARES: Shares = { words: 1, pairs: 0.7, pieces: 1, meanings: 0.6, sayings: 0.5 };
const SEVERITY_SHARES: Shares = { words: 0.7, pairs: 0.4, pieces: 0.5, meanings: 1, sayings: 0.6 };
const CONCEPTS = 0.11;
const SIGNALS = 0.25;
const CATEGORY_COST = 0.15;
const SEVERITY_COST = 0.4;
/** What the sums of counted groups count beside those of support vector machines. */
const COUNTED = 0.06;
/** Sentences of articles are written in another way than reports. */
const OF_ARTICLES = 0.4;
/**
 * Makes chances of scores so that of verdicts with a confidence of p, about a share of p is right. A little above the
 * value with the lowest log loss in cross-validation, which `npm run eval` finds: to claim too little does less harm.
 */
export const HEAT = 0.34;

/** A function that reads texts. */
export function readerBy({ lexicon, signals, thesaurus }: Words): (text: string) => Reading {
  const { follow } = finderOf(
    Object.entries(thesaurus).flatMap(([meaning, words]) =>
      words.map((word) => [word, meaning] as const)
    ),
  );
  const phrasesOf = phrasesBy(lexicon);
  const signalsOf = signalsBy(signals);
  return (whole) => {
    const text = whole.slice(0, LONGEST);
    const clauses = clausesOf(text);
    return {
      counted: count(clauses, follow),
      phrases: phrasesOf(clauses),
      signals: signalsOf(text, clauses),
    };
  };
}

/** Reads labelled reports as lessons. */
export function lessonsOfReports(
  reports: readonly LabelledReport[],
  read: (text: string) => Reading,
): Lesson[] {
  return reports.map(({ text, category, severity }) => ({
    reading: read(text),
    category,
    severity,
    importance: 1,
  }));
}

/** Reads what articles say of symptoms and causes as lessons, a sentence each. */
export function lessonsOfArticles(
  articles: readonly Article[],
  read: (text: string) => Reading,
): Lesson[] {
  return articles.flatMap(({ title, symptoms, causes, words, category }) =>
    [title, ...symptoms, ...causes, ...Object.values(words).flat()]
      .map((text) => ({
        reading: read(text),
        category,
        severity: undefined,
        importance: OF_ARTICLES,
      }))
  );
}

/** Everything that is known once learning is over; plain data, so that it can be kept in a file. */
export interface Learnt {
  /** Row of each cell in the two tables below, from 1; 0: no lesson has it. */
  readonly rows: Int32Array;
  /** How rare each row's cell is; of row 0, how rare something never seen is taken to be. */
  readonly rarity: Float32Array;
  /** Weights by row, {@linkcode OUTPUTS} each: of the categories, then of the steps of severity. */
  readonly weights: Int16Array;
  /** What 1 stands for in each column of the weights. */
  readonly units: Float32Array;
}

const OUTPUTS = CATEGORIES.length + SEVERITIES.length - 1;
const FINEST = 2 ** 15 - 1;

/**
 * Learns from lessons; the same ones in the same order give the same.
 *
 * Phrases that only one lesson has are passed over while learning, as some were written for that lesson: they would
 * make the lexicon look more reliable than it is for texts that nobody has seen.
 */
export function learnFrom(lessons: readonly Lesson[]): Learnt {
  const rarities = rarityOf(lessons.map(({ reading }) => reading.counted));
  const rarity = (cell: number) => rarities[cell]!;
  const lone = lonePhrases(lessons.map(({ reading }) => reading.phrases));
  const importance = lessons.map((lesson) => lesson.importance);
  const features = lessons.map(({ reading }) => categoryFeatures(reading, rarity, lone));
  const told = CATEGORIES.map((wanted) =>
    learn(features, lessons.map(({ category }) => category === wanted), CATEGORY_COST, importance)
  );
  const counted = countGroups(
    features,
    lessons.map(({ category }) => CATEGORIES.indexOf(category)),
    CATEGORIES.length,
    importance,
  );
  const graded = lessons.filter(({ severity }) => severity !== undefined);
  const gradedFeatures = graded.map(({ reading }) => severityFeatures(reading, rarity));
  const steps = SEVERITIES.slice(1).map((_, n) =>
    learn(
      gradedFeatures,
      graded.map(({ severity }) => SEVERITIES.indexOf(severity!) > n),
      SEVERITY_COST,
      graded.map((lesson) => lesson.importance),
    )
  );
  const categories = told.map((weights, group) =>
    weights.map((weight, cell) => weight + COUNTED * counted[group]![cell]!)
  );
  return pack(rarities, [...categories, ...steps]);
}

/** Leaves out cells that nothing is known of, and rounds the weights of the others. */
function pack(rarities: Float32Array, columns: readonly Weights[]): Learnt {
  const rows = new Int32Array(CELLS + 1);
  const cells: number[] = [];
  const unseen = rarities.reduce((most, one) => Math.max(most, one), 0);
  for (let cell = 0; cell <= CELLS; cell++) {
    if (!(rarities[cell]! < unseen) && columns.every((weights) => weights[cell] === 0)) continue;
    cells.push(cell);
    rows[cell] = cells.length;
  }
  const units = Float32Array.from(
    columns,
    (weights) => weights.reduce((most, one) => Math.max(most, Math.abs(one)), 1e-9) / FINEST,
  );
  const rarity = new Float32Array(cells.length + 1).fill(unseen);
  const weights = new Int16Array((cells.length + 1) * OUTPUTS);
  for (const cell of cells) {
    const row = rows[cell]!;
    rarity[row] = rarities[cell] ?? unseen;
    for (let n = 0; n < OUTPUTS; n++) {
      weights[row * OUTPUTS + n] = Math.round(columns[n]![cell]! / units[n]!);
    }
  }
  return { rows, rarity, weights, units };
}

/** Judges by what was learnt. @param heat for {@linkcode softmax} */
export function judgeBy(learnt: Learnt, heat: number = HEAT): Judge {
  const rarity = (cell: number) => learnt.rarity[learnt.rows[cell]!]!;
  return (reading, without) => {
    const scores = sumsOf(learnt, categoryFeatures(reading, rarity, without));
    const steps = sumsOf(learnt, severityFeatures(reading, rarity)).slice(CATEGORIES.length);
    return {
      categories: softmax(scores.slice(0, CATEGORIES.length), heat),
      // Each step is the answer to "at least that bad?"; as many as say yes is the middle of what is likely.
      severity: SEVERITIES[steps.filter((sum) => sum > 0).length]!,
    };
  };
}

/** Learns and judges by it. */
export function judgeFrom(lessons: readonly Lesson[], heat: number = HEAT): Judge {
  return judgeBy(learnFrom(lessons), heat);
}

function categoryFeatures(
  { counted, phrases }: Reading,
  rarity: (cell: number) => number,
  without?: ReadonlySet<Phrase>,
): Features {
  return weigh(counted, rarity, CATEGORY_SHARES, scaled(conceptsOf(phrases, without), CONCEPTS));
}

function severityFeatures(
  { counted, signals }: Reading,
  rarity: (cell: number) => number,
): Features {
  return weigh(counted, rarity, SEVERITY_SHARES, scaled(signals, SIGNALS));
}

/** Weighted sums of a text's features, one an output. */
function sumsOf({ rows, weights, units }: Learnt, features: Features): number[] {
  const sums = new Float64Array(OUTPUTS);
  for (const [i, cell] of features.cells.entries()) {
    const at = rows[cell]! * OUTPUTS;
    const value = features.weights[i]!;
    if (at > 0) { for (let n = 0; n < OUTPUTS; n++) sums[n]! += weights[at + n]! * value; }
  }
  return Array.from(sums, (sum, n) => sum * units[n]!);
}

function scaled(signals: Signals, by: number): Signals {
  return new Map([...signals].map(([name, weight]) => [name, weight * by]));
}

/** The model: predicts the category and the severity of a text from its features. */
import { SEVERITIES, type Severity, worse } from "../../../contract/domain/mod.ts";
import { trainBayes } from "./_bayes.ts";
import {
  CELLS,
  type Features,
  type KindWeights,
  measureRarity,
  weighFeatures,
} from "./_features.ts";
import { findLonePhrases, type Phrase, weighConcepts } from "./_lexicon.ts";
import type { ReadText } from "./_reader.ts";
import type { Signals } from "./_severity_signals.ts";
import { softmax, trainSvm, type Weights } from "./_svm.ts";
import { CATEGORIES, type Category } from "./categories.ts";

/** A prediction for a text. */
export interface Prediction {
  /** Probability of each category, in the order of {@linkcode CATEGORIES}. */
  readonly categories: readonly number[];
  readonly severity: Severity;
}

/** Predicts the category and the severity of a text. @param ignored phrases of the lexicon that are left out */
export type Predict = (text: ReadText, ignored?: ReadonlySet<Phrase>) => Prediction;

/** A text to learn from, with its right answer. */
export interface Example {
  readonly text: ReadText;
  readonly category: Category;
  /** Undefined: only the category is learnt from it. */
  readonly severity: Severity | undefined;
  /** Its weight in training, > 0. */
  readonly importance: number;
}

const CATEGORY_WEIGHTS: KindWeights = {
  words: 1,
  pairs: 0.7,
  pieces: 1,
  meanings: 0.6,
  meaning_pairs: 0.65,
};
const SEVERITY_WEIGHTS: KindWeights = {
  words: 0.7,
  pairs: 0.4,
  pieces: 0.5,
  meanings: 1,
  meaning_pairs: 0.6,
};
const CONCEPT_WEIGHT = 0.11;
const SIGNAL_WEIGHT = 0.3;
/** Weight of the lexicon's concepts in severity: a theft is graded otherwise than a slow page. */
const SEVERITY_CONCEPT_WEIGHT = 0.15;
const CATEGORY_COST = 0.15;
const SEVERITY_COST = 0.4;
/** Weight of naive Bayes against the support vector machines. */
const BAYES_WEIGHT = 0.06;
/**
 * Turns scores into probabilities. The lowest at which at least 95 % of the public first reports for calibration with a
 * confidence of 0.9 or more are right. It is above the value with the lowest log loss, which `npm run eval` finds: a
 * report that nobody wrote for the classifier must not be answered too surely.
 */
export const TEMPERATURE = 0.58;
/** The same where articles are ranked by the categories: which is likelier counts then, and not how sure that is. */
export const RANKING_TEMPERATURE = 0.34;

/** A trained model. Plain data, so that a file can hold it. */
export interface Model {
  /** Row of each cell in the two tables below, from 1; 0: no example has it. */
  readonly rows: Int32Array;
  /** Rarity of each row's cell; row 0: that of a cell that was never seen. */
  readonly rarity: Float32Array;
  /** Weights by row, {@linkcode OUTPUTS} each: of the categories, then of the steps of severity. */
  readonly weights: Int16Array;
  /** Value of 1 in each column of the weights. */
  readonly units: Float32Array;
}

const OUTPUTS = CATEGORIES.length + SEVERITIES.length - 1;
const MAX_WEIGHT = 2 ** 15 - 1;

/**
 * Trains a model. The same examples in the same order give the same model.
 *
 * Phrases that only one example has are left out, as some were written for that example: they would make the lexicon look
 * more reliable than it is for new texts.
 */
export function trainModel(examples: readonly Example[]): Model {
  const rarities = measureRarity(examples.map(({ text }) => text.counts));
  const rarityOf = (cell: number) => rarities[cell]!;
  const lonePhrases = findLonePhrases(examples.map(({ text }) => text.phrases));
  const importance = examples.map((example) => example.importance);
  const features = examples.map(({ text }) => categoryFeatures(text, rarityOf, lonePhrases));
  const machines = CATEGORIES.map((wanted) =>
    trainSvm(
      features,
      examples.map(({ category }) => category === wanted),
      CATEGORY_COST,
      importance,
    )
  );
  const bayes = trainBayes(
    features,
    examples.map(({ category }) => CATEGORIES.indexOf(category)),
    CATEGORIES.length,
    importance,
  );
  const graded = examples.filter(({ severity }) => severity !== undefined);
  const gradedFeatures = graded.map(({ text }) => severityFeatures(text, rarityOf));
  const steps = SEVERITIES.slice(1).map((_, n) =>
    trainSvm(
      gradedFeatures,
      graded.map(({ severity }) => SEVERITIES.indexOf(severity!) > n),
      SEVERITY_COST,
      graded.map((example) => example.importance),
    )
  );
  const categories = machines.map((weights, group) =>
    weights.map((weight, cell) => weight + BAYES_WEIGHT * bayes[group]![cell]!)
  );
  return pack(rarities, [...categories, ...steps]);
}

/** Leaves out cells about which nothing was learnt, and rounds the weights of the others. */
function pack(rarities: Float32Array, columns: readonly Weights[]): Model {
  const rows = new Int32Array(CELLS + 1);
  const cells: number[] = [];
  const highestRarity = rarities.reduce((highest, one) => Math.max(highest, one), 0);
  for (let cell = 0; cell <= CELLS; cell++) {
    const isUnseen = !(rarities[cell]! < highestRarity);
    if (isUnseen && columns.every((weights) => weights[cell] === 0)) continue;
    cells.push(cell);
    rows[cell] = cells.length;
  }
  const units = Float32Array.from(
    columns,
    (weights) => weights.reduce((most, one) => Math.max(most, Math.abs(one)), 1e-9) / MAX_WEIGHT,
  );
  const rarity = new Float32Array(cells.length + 1).fill(highestRarity);
  const weights = new Int16Array((cells.length + 1) * OUTPUTS);
  for (const cell of cells) {
    const row = rows[cell]!;
    rarity[row] = rarities[cell] ?? highestRarity;
    for (let n = 0; n < OUTPUTS; n++) {
      weights[row * OUTPUTS + n] = Math.round(columns[n]![cell]! / units[n]!);
    }
  }
  return { rows, rarity, weights, units };
}

/** Makes a function that predicts with a model. @param temperature for {@linkcode softmax} */
export function createPredict(model: Model, temperature: number = TEMPERATURE): Predict {
  const rarityOf = (cell: number) => model.rarity[model.rows[cell]!]!;
  return (text, ignored) => {
    const scores = weightedSums(model, categoryFeatures(text, rarityOf, ignored));
    const steps = weightedSums(model, severityFeatures(text, rarityOf)).slice(CATEGORIES.length);
    // Each step answers "at least that bad?"; the number of yeses is the middle of what is likely.
    const learnt = SEVERITIES[steps.filter((sum) => sum > 0).length]!;
    return {
      categories: softmax(scores.slice(0, CATEGORIES.length), temperature),
      severity: worse(learnt, text.lowestSeverity ?? learnt),
    };
  };
}

function categoryFeatures(
  { counts, phrases }: ReadText,
  rarityOf: (cell: number) => number,
  ignored?: ReadonlySet<Phrase>,
): Features {
  const concepts = scale(weighConcepts(phrases, ignored), CONCEPT_WEIGHT);
  return weighFeatures(counts, rarityOf, CATEGORY_WEIGHTS, concepts);
}

function severityFeatures(
  { counts, phrases, signals }: ReadText,
  rarityOf: (cell: number) => number,
): Features {
  const extra = new Map([
    ...scale(signals, SIGNAL_WEIGHT),
    ...scale(weighConcepts(phrases), SEVERITY_CONCEPT_WEIGHT),
  ]);
  return weighFeatures(counts, rarityOf, SEVERITY_WEIGHTS, extra);
}

/** Returns the weighted sum of a text's features for each output. */
function weightedSums({ rows, weights, units }: Model, features: Features): number[] {
  const sums = new Float64Array(OUTPUTS);
  for (const [i, cell] of features.cells.entries()) {
    const at = rows[cell]! * OUTPUTS;
    if (at === 0) continue;
    const value = features.weights[i]!;
    for (let n = 0; n < OUTPUTS; n++) sums[n]! += weights[at + n]! * value;
  }
  return Array.from(sums, (sum, n) => sum * units[n]!);
}

function scale(signals: Signals, by: number): Signals {
  return new Map([...signals].map(([name, weight]) => [name, weight * by]));
}

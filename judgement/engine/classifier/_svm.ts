/** Linear support vector machines: each tells two groups of texts apart by a weighted sum of features. */
import { CELLS, type Features } from "./_features.ts";

/** Weights of features. The sum of an example's is above 0 where it belongs to the group. */
export type Weights = Float32Array;

const EPOCHS = 10;

/**
 * Learns which examples belong to a group. The same examples give the same weights.
 *
 * Dual coordinate descent on the squared hinge loss.
 * @see Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008, algorithm 1
 *
 * @param belongs whether each example belongs to the group
 * @param cost of a mistake against the size of the weights, > 0
 * @param importance how much a mistake with each example counts, > 0
 */
export function trainSvm(
  features: readonly Features[],
  belongs: readonly boolean[],
  cost: number,
  importance: readonly number[],
): Weights {
  const weights = new Float32Array(CELLS + 1);
  const share = belongs.filter(Boolean).length / belongs.length;
  const slack = belongs.map((isMember, n) => {
    const balance = Math.sqrt(0.5 / (isMember ? share : 1 - share)); // the smaller group counts more
    return 1 / (2 * cost * balance * importance[n]!);
  });
  const curvature = features.map((example, n) =>
    slack[n]! + example.weights.reduce((sum, w) => sum + w * w, 0)
  );
  const alphas = new Float64Array(features.length);
  const order = features.map((_, n) => n);
  const random = randomNumbers(1);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(order, random);
    for (const n of order) {
      const example = features[n]!;
      const sign = belongs[n] ? 1 : -1;
      const alpha = alphas[n]!;
      const slope = sign * score(weights, example) - 1 + slack[n]! * alpha;
      if (alpha === 0 && slope >= 0) continue;
      const next = Math.max(alpha - slope / curvature[n]!, 0);
      const step = (next - alpha) * sign;
      if (step === 0) continue;
      alphas[n] = next;
      for (let i = 0; i < example.cells.length; i++) {
        weights[example.cells[i]!]! += step * example.weights[i]!;
      }
    }
  }
  return weights;
}

/** Returns the weighted sum of an example's features. */
function score(weights: Weights, { cells, weights: values }: Features): number {
  let sum = 0;
  for (let i = 0; i < cells.length; i++) sum += weights[cells[i]!]! * values[i]!;
  return sum;
}

/** Turns scores into probabilities. @param temperature > 0; the higher, the less certain */
export function softmax(scores: readonly number[], temperature: number): number[] {
  const highest = Math.max(...scores);
  const odds = scores.map((one) => Math.exp((one - highest) / temperature));
  const total = odds.reduce((sum, one) => sum + one, 0);
  return odds.map((one) => one / total);
}

function shuffle(order: number[], random: () => number): void {
  for (let n = order.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1));
    [order[n], order[other]] = [order[other]!, order[n]!];
  }
}

/** Returns a generator of numbers from 0 to below 1; the same seed gives the same numbers. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

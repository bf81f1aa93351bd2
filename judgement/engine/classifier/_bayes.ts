/** Complement naive Bayes: it has little to learn, so it overfits little. */
import { CELLS, type Features } from "./_features.ts";
import type { Weights } from "./_svm.ts";

/** Count that each feature is assumed to have in each group, beside the real ones. */
const SMOOTHING = 0.05;

/**
 * Learns weights of features for each of several groups; the group with the highest sum is the likeliest.
 *
 * @see Rennie et al., Tackling the Poor Assumptions of Naive Bayes Text Classifiers, ICML 2003, section 3
 *
 * @param groupOf number of each example's group, from 0
 * @param importance how much each example counts, > 0
 */
export function trainBayes(
  features: readonly Features[],
  groupOf: readonly number[],
  groups: number,
  importance: readonly number[],
): Weights[] {
  const total = new Float64Array(CELLS);
  const within = Array.from({ length: groups }, () => new Float64Array(CELLS));
  for (const [n, { cells, weights }] of features.entries()) {
    const group = within[groupOf[n]!]!;
    for (const [i, cell] of cells.entries()) {
      if (cell === CELLS) continue; // the bias
      const count = weights[i]! * importance[n]!;
      group[cell]! += count;
      total[cell]! += count;
    }
  }
  const cellsInUse = total.reduce((n, count) => n + (count > 0 ? 1 : 0), 0);
  const share = (some: number, all: number) => (some + SMOOTHING) / (all + SMOOTHING * cellsInUse);
  const totalSum = sum(total);
  return within.map((group) => {
    const groupSum = sum(group);
    const weights = new Float32Array(CELLS + 1);
    for (let cell = 0; cell < CELLS; cell++) {
      if (total[cell] === 0) continue;
      const [inside, outside] = [group[cell]!, Math.max(total[cell]! - group[cell]!, 0)];
      weights[cell] = Math.log(share(inside, groupSum) / share(outside, totalSum - groupSum));
    }
    return weights;
  });
}

function sum(numbers: Float64Array): number {
  return numbers.reduce((total, one) => total + one, 0);
}

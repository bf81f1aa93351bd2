/** Naive Bayes by counting what is in a group and what is outside of it: little to learn, so little to learn by heart. */
import { CELLS, type Features } from "./features.ts";
import type { Weights } from "./linear.ts";

/** What each feature is thought to have been seen with in each group, beside what was seen. */
const SMOOTHING = 0.05;

/**
 * Weights of features for each of several groups; the group with the highest sum is the likeliest.
 *
 * @see Rennie et al., Tackling the Poor Assumptions of Naive Bayes Text Classifiers, ICML 2003, section 3
 *
 * @param groupOf number of each example's group, from 0
 * @param importance how much each example counts, > 0
 */
export function countGroups(
  features: readonly Features[],
  groupOf: readonly number[],
  groups: number,
  importance: readonly number[],
): Weights[] {
  const among = new Float64Array(CELLS);
  const within = Array.from({ length: groups }, () => new Float64Array(CELLS));
  for (const [n, { cells, weights }] of features.entries()) {
    const group = within[groupOf[n]!]!;
    for (const [i, cell] of cells.entries()) {
      if (cell === CELLS) continue; // the bias
      const much = weights[i]! * importance[n]!;
      group[cell]! += much;
      among[cell]! += much;
    }
  }
  const seen = among.reduce((n, much) => n + (much > 0 ? 1 : 0), 0);
  const share = (some: number, all: number) => (some + SMOOTHING) / (all + SMOOTHING * seen);
  const whole = sumOf(among);
  return within.map((group) => {
    const all = sumOf(group);
    const weights = new Float32Array(CELLS + 1);
    for (let cell = 0; cell < CELLS; cell++) {
      if (among[cell] === 0) continue;
      const [some, others] = [group[cell]!, Math.max(among[cell]! - group[cell]!, 0)];
      weights[cell] = Math.log(share(some, all) / share(others, whole - all));
    }
    return weights;
  });
}

function sumOf(numbers: Float64Array): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

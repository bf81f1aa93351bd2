/** Likelihood that an article is about the fault of a report, learnt from pairs of both that a person has judged. */
import { createHash } from "node:crypto";
import { CATEGORIES, type Category } from "./categories.ts";
import type { Likeness, SearchHit } from "./search.ts";
import type { JudgedReport } from "./training_data.ts";

/** An article or another passage that may be about the fault of a report. */
export interface Candidate extends Likeness {
  readonly id: string;
  readonly title: string;
  readonly category: string;
}

/** A passage, and how likely it is about the fault. */
export interface RankedPassage extends Pick<Candidate, "id" | "title" | "category"> {
  /** Probability that it is about the fault, 0 to 1. */
  readonly score: number;
}

/** The weights of {@linkcode features}. */
export type RelevanceWeights = readonly number[];

/** An article is cited from this probability on. */
export const MIN_RELEVANCE = 0.6;

/** Articles of each judged report that are learnt from: those that could be cited. */
const MAX_PAIRS = 6;
const STEPS = 30;
/** Keeps weights small where few pairs speak for them. */
const DECAY = 1;

/** Returns candidates with the probability that each is about the fault, best first. */
export function rankByRelevance(
  candidates: readonly Candidate[],
  categories: readonly number[],
  weights: RelevanceWeights,
): RankedPassage[] {
  return candidates.map((candidate) => {
    const { id, title, category } = candidate;
    const score = logistic(dot(features(candidate, candidates, categories), weights));
    return { id, title, category, score };
  }).sort((a, b) => b.score - a.score);
}

/** Returns an article that a search found as a candidate. */
export function toCandidate(
  { article: { id, title, category }, ...likeness }: SearchHit,
): Candidate {
  return { id, title, category, ...likeness };
}

/** Returns whether a judged report is for evaluation only: about half are, by the hash of their text. */
export function isHeldOut({ text }: Pick<JudgedReport, "text">): boolean {
  return createHash("sha256").update(text).digest()[0]! % 2 === 1;
}

/** Learns the weights from judged reports with the best candidates for each (logistic regression, by Newton's method). */
export function learnRelevance(
  judged: readonly {
    readonly report: JudgedReport;
    readonly candidates: readonly Candidate[];
    readonly categories: readonly number[];
  }[],
): RelevanceWeights {
  const pairs = judged.flatMap(({ report, candidates, categories }) =>
    candidates.slice(0, MAX_PAIRS).map((candidate) => ({
      values: features(candidate, candidates, categories),
      isAbout: report.about.includes(candidate.id),
    }))
  );
  const size = pairs[0]?.values.length ?? 0;
  let weights: number[] = new Array(size).fill(0);
  for (let step = 0; step < STEPS; step++) {
    const slope = weights.map((weight) => -DECAY * weight);
    const curve = weights.map((_, i) => weights.map((_, j) => i === j ? DECAY : 0));
    for (const { values, isAbout } of pairs) {
      const p = logistic(dot(values, weights));
      for (const [i, x] of values.entries()) {
        slope[i]! += (Number(isAbout) - p) * x;
        for (const [j, y] of values.entries()) curve[i]![j]! += p * (1 - p) * x * y;
      }
    }
    const change = solve(curve, slope);
    weights = weights.map((weight, i) => weight + change[i]!);
  }
  return weights;
}

/** Returns signs that a passage is about a fault, each about -3 to 3. */
function features(
  { id, category, score, strength, titleShare }: Candidate,
  candidates: readonly Candidate[],
  categories: readonly number[],
): number[] {
  const best = candidates.find((other) => other.id !== id)?.score ?? 1;
  const probability = categories[CATEGORIES.indexOf(category as Category)] ?? 0;
  return [
    1,
    strength,
    2 * Math.max(-1.5, Math.log(score / best)),
    Math.log(Math.max(probability, 0.01)) / 2,
    2 * titleShare,
  ];
}

function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** Solves a system of linear equations whose matrix is symmetric and positive definite. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (const [i, row] of rows.entries()) {
    for (const below of rows.slice(i + 1)) {
      const factor = below[i]! / row[i]!;
      for (let j = i; j < below.length; j++) below[j]! -= factor * row[j]!;
    }
  }
  const result: number[] = new Array(right.length).fill(0);
  for (let i = rows.length - 1; i >= 0; i--) {
    const known = result.reduce((sum, value, j) => j > i ? sum + rows[i]![j]! * value : sum, 0);
    result[i] = (rows[i]!.at(-1)! - known) / rows[i]![i]!;
  }
  return result;
}

/** How much of a question a passage treats. */
import type { Compare, Likeness, PassageTerms } from "./search.ts";

/** A passage that may answer a question. */
interface QuestionedPassage {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly sha256: string;
}

/** Returns how much of a question a passage treats, ≥ 0. */
export type Treatment = (question: string, passage: QuestionedPassage) => number;

/**
 * A passage treats a question from this treatment on. Of all bounds, it tells the questions of
 * `evals/questions/calibration.jsonl` with an answer best from those without one. @see `npm run eval -- questions`
 */
export const MIN_TREATMENT = 7.4;

/** @param openings by which a text is a question */
export function createTreatment(
  compare: Compare,
  termsOf: (passage: QuestionedPassage) => PassageTerms,
  openings: readonly string[],
): Treatment {
  return (question, passage) => {
    const likeness = compare(withoutOpening(question, openings), termsOf(passage));
    return likeness ? treatmentOf(likeness) : 0;
  };
}

/**
 * Weighs how many and how rare words a question and a passage share against those that it has in all: a long question may
 * share many words by chance, and a short one a large part of them.
 */
function treatmentOf({ score, strength }: Likeness): number {
  return Math.round(100 * score * strength) / 100;
}

/** Removes the words by which a text is a question, such as `how do I`: they say nothing of what it is about. */
function withoutOpening(question: string, openings: readonly string[]): string {
  const text = question.trim();
  const lower = text.toLowerCase();
  const opening = openings.filter((one) => lower.startsWith(`${one} `))
    .sort((a, b) => b.length - a.length)[0];
  return opening === undefined ? text : text.slice(opening.length);
}

/**
 * Confidence below which a classification is a guess: a third of such public first reports have the right category
 * (docs/engine.md). Advice for another fault does harm, so a guess carries none.
 */
export const MIN_ADVICE_CONFIDENCE = 0.4;

/** Returns the advice, or, for a guess, that a person has to read the report. */
export function adviceAt(confidence: number, advice: string): string {
  return confidence < MIN_ADVICE_CONFIDENCE
    ? `Have a person read the report: a confidence of ${
      confidence.toFixed(2)
    } is a guess, and too little to act on.`
    : advice;
}

/**
 * Activities that act in the operator's own systems: the intent is sealed, there is one attempt, and what the system shows
 * is read.
 *
 * ```ts
 * const { attemptAct, readAct } = outsideActivities(parts);
 * ```
 *
 * Doesn't trust: what a system answers to an act. What it shows afterwards counts.
 * @module
 */
export { endOfAct, outsideKind } from "./ended.ts";
export { outsideActivities } from "./acts.ts";

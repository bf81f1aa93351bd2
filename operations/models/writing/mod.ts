/**
 * The rules that check what language models write.
 *
 * ```ts
 * const { kept, objections } = await checkClaims(engine, claims, { tenant, evidence, report, services });
 * const { answer, reason } = await writeAnswer(context, question, passages);
 * ```
 *
 * Doesn't trust: what a model writes. Each sentence has to cite evidence that supports the names in it.
 * @module
 */
export { checkClaims, claimObjection } from "./claims.ts";
export { findNames } from "./names.ts";
export { writeAnswer } from "./write_answer.ts";

/**
 * Text of language models, and the rules that check it.
 *
 * ```ts
 * const { answer, ...result } = await askModel(engine, request);
 * const { kept, objections } = await checkClaims(engine, answer.claims, { tenant, evidence, report, services });
 * ```
 *
 * Doesn't trust: what a model writes. Each sentence has to cite evidence that supports the names in it.
 * @module
 */
export { checkClaims, type CheckedClaims, type ClaimGrounds, claimObjection } from "./claims.ts";
export { askModel, draftOf } from "./model.ts";
export { findNames } from "./names.ts";

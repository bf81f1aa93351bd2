/**
 * Activities of the reasoning pipeline and of the crew. All of them only read.
 *
 * ```ts
 * const { readPrompt, lookUp } = reasoningActivities(parts);
 * const { services } = await readPrompt("pay-db is down");
 * ```
 *
 * Doesn't trust: what a model writes. {@linkcode checkClaims} compares each sentence with the evidence that it cites.
 * @module
 */
export { checkClaims, type CheckedClaims, type ClaimGrounds, claimObjection } from "./claims.ts";
export { crewActivities } from "./crew.ts";
export { draftActivities } from "./drafts.ts";
export { reasoningActivities } from "./nodes.ts";

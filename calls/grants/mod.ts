/**
 * Standing grants: a person allows acts beforehand, each exactly as people were asked about it once, so often and until then.
 *
 * ```ts
 * const use = await useGrant(store, trx, { actionSha256, approvers, id: decisionId });
 * ```
 *
 * Trusts: what a passkey has signed, and the count of uses. Doesn't trust: what else the row of a grant says.
 * @module
 */
export { endGrant, makeGrant, proposeGrant } from "./make.ts";
export { MAX_GRANTED } from "./terms.ts";
export { useGrant } from "./use.ts";

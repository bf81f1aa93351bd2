/**
 * Sealing: requests go to an outbox, and one sequencer makes them the next part of the chain.
 *
 * ```ts
 * const { id } = await db.transaction((trx) => requestSeal(trx, request)); // sealed if and only if this commits
 * const { position, hash } = await sealer.sealed(id);
 * ```
 *
 * Trusts: the signer. Doesn't trust: the database to be the one of yesterday; two sequencers to keep out of each other's
 * way, as the second one's commits are refused.
 * @module
 */
export { findSignerProblem, reportSignerProblem, type SignerProblem } from "./able.ts";
export { requestRotation } from "./_own_keys.ts";
export { recoverLedgerKey } from "./recover.ts";
export { ensureRecoveryKey, makeRecoveryKey, parseRecoveryKey } from "./recovery_key.ts";
export { getSealState, requestSeal, requestSeals, sealArguments } from "./request.ts";
export { openSealer, type Sealer } from "./sealer.ts";
export { readHead } from "./_append.ts";
export { describeRefill } from "./_refill.ts";
export { appendVerified, toPlace, verifyNext } from "./_verified.ts";
export { SealingHeld } from "./_trouble.ts";
export { isSequencerAtWork, runSequencer, SEQUENCER_LOCK } from "./sequencer.ts";

/**
 * Sealing: requests go to an outbox, and one sequencer makes them the next part of the chain.
 *
 * ```ts
 * const { id } = await db.transaction((trx) => requestSeal(trx, request)); // sealed if and only if this commits
 * const { position, hash } = await sealer.sealed(id);
 * ```
 *
 * Trusts: the sequencer's key file. Doesn't trust: two sequencers to keep out of each other's way; the second one's
 * commits are refused.
 * @module
 */
export {
  getSealState,
  requestSeal,
  requestSeals,
  sealArguments,
  type SealState,
} from "./request.ts";
export { openSealer, type SealedReceipt, type Sealer } from "./sealer.ts";
export { runSequencer, SequencerBusy, type SequencerOptions } from "./sequencer.ts";

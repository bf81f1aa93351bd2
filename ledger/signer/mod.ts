/**
 * The signer of receipts: its key, and a journal outside of the database of what it has signed.
 *
 * ```ts
 * const signer = await openFileSigner("ledger.key");
 * const { signatures } = await signer.sign(batch); // once the batch is on the disk
 * signer.acknowledge(getHeadAfter(batch)); // once it is committed
 * ```
 *
 * Trusts: its own files. Doesn't trust: the database, nor a caller that asks for a second signature at a position.
 * @module
 */
export {
  type Batch,
  type BatchReceipt,
  type ChainHead,
  getHeadAfter,
  isSameHead,
  type Signatures,
} from "./batch.ts";
export { ClockWentBack, SignatureRefused, SignerStateError } from "./errors.ts";
export {
  type FileSignerOptions,
  openFileSigner,
  type Signer,
  signerFolder,
} from "./file_signer.ts";
export { acceptClock, readSignerState, resetSigner } from "./reset.ts";
export { getSignedHead, type SignerState } from "./state.ts";

/**
 * The signer of receipts: its key, and a journal outside of the database of what it has signed.
 *
 * ```ts
 * const signer = await openSigner("ledger.key");
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
export type { CommittedReceipt } from "./_committed.ts";
export { ClockWentBack, SignatureRefused, SignerAway, SignerStateError } from "./errors.ts";
export type { JournalObjects } from "./journal_objects.ts";
export { openPlace, signerFolder } from "./place.ts";
export { openSocketKey } from "./key_socket.ts";
export { openFileKey, type ReceiptKey } from "./receipt_key.ts";
export { serveKey } from "./serve_key.ts";
export {
  missingJournal,
  missingKey,
  openSigner,
  type Signer,
  type SignerOptions,
} from "./signer.ts";
export { acceptClock, readSignerState, resetSigner } from "./reset.ts";
export { getSignedHead, type SignerState } from "./state.ts";

/**
 * Receipts: an append-only chain in which every entry is hashed, signed and linked to the one before.
 *
 * ```ts
 * const { id } = await requestSeal(trx, { category: "platform_fix", actor: "itsm-loop", … });
 * const { position, hash } = await sealer.sealed(id); // after the commit; waits for the sequencer
 * ```
 *
 * Trusts: the sequencer's key file. Doesn't trust: the database (see {@linkcode verifyChain}).
 * @module
 */
export {
  canonicalFields,
  canonicalFromText,
  canonicalItems,
  canonicalize,
  NotCanonical,
} from "./canonical.ts";
export { ANCHOR_CONFIRMED, type Batch, openAnchors } from "./anchor_batches.ts";
export { advanceAnchor, type Anchoring, type Attempt } from "./anchoring.ts";
export {
  type Anchor,
  anchorOf,
  anchorsOf,
  type AnchorTotals,
  anchorTotals,
  type Block,
  receiptBytes,
  receiptProof,
} from "./anchors.ts";
export { type AnchorSummary, anchorSummary } from "./anchors_api.ts";
export { ledgerOperations, type LedgerParts } from "./api.ts";
export { AmbiguousReceipt, ReceiptConflict, ReceiptNotFound } from "./errors.ts";
export {
  checkCheckpoint,
  type CheckpointCheck,
  type SignedCheckpoint,
} from "./checkpoint_check.ts";
export { requestSeal, type SealState, sealState, sealTogether } from "./outbox.ts";
export {
  exportReceipts,
  findReceipt,
  type Head,
  head,
  ledgerKeys,
  pageReceipts,
  receiptById,
  type Stored,
  supersededBy,
} from "./read.ts";
export { bindExportStream } from "./export_stream.ts";
export { leafOf } from "./leaf.ts";
export { logHashes, type PublishedCheckpoint, publishedCheckpoint } from "./log_hashes.ts";
export { type LogPlace, logPlace } from "./log_place.ts";
export {
  contradiction,
  LogBroken,
  type LogOptions,
  type LogWriter,
  openLog,
} from "./log_writer.ts";
export { bindLog } from "./log_routes.ts";
export { commitment, prepare, randomHex, receiptTime, type SealRequest } from "./receipt.ts";
export { LedgerAway, openLedgerUrl, type RemoteLedger } from "./ledger_url.ts";
export { BadPublicKey, fingerprintOf, keysToTrust, readPublicKey } from "./public_key.ts";
export { type Imported, importLedger, type ImportOptions, ImportRefused } from "./import.ts";
export { openReceiptFile, type ReceiptFile } from "./receipt_file.ts";
export { BadReceiptFile } from "./receipt_stream.ts";
export { openSealer, type Requested, type Sealed, type Sealer } from "./sealer.ts";
export { runSequencer, SequencerBusy, type SequencerOptions } from "./sequencer.ts";
export type { Break, Check, Checks, Place, TrustedKey, Verdict } from "./rules.ts";
export {
  beginScrub,
  endScrub,
  type FailedCheck,
  type FoundBreak,
  type KnownChain,
  type Range,
  scrubPart,
  type ScrubParts,
  type ScrubPass,
  type ScrubResult,
} from "./scrub.ts";
export { type StoredVerdict, verifyStored } from "./stored.ts";
export { type ChainVerdict, type ParallelOptions, verifyInParallel } from "./verify_parallel.ts";
export { verifyChain, verifyReceipt } from "./verify.ts";
export {
  type ChainState,
  type ChainWatch,
  type ScrubState,
  watchChain,
  type WatchOptions,
} from "./watch.ts";

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
} from "./rules/canonical.ts";
export { ANCHOR_CONFIRMED, type Batch, openAnchors } from "./anchors/anchor_batches.ts";
export { advanceAnchor, type Anchoring, type Attempt } from "./anchors/anchoring.ts";
export {
  type Anchor,
  anchorOf,
  anchorsOf,
  type AnchorTotals,
  anchorTotals,
  type Block,
  receiptBytes,
  receiptProof,
} from "./anchors/anchors.ts";
export { type AnchorSummary, anchorSummary } from "./api/anchors_api.ts";
export { ledgerOperations, type LedgerParts } from "./api/api.ts";
export { AmbiguousReceipt, ReceiptConflict, ReceiptNotFound } from "./receipts/errors.ts";
export {
  checkCheckpoint,
  type CheckpointCheck,
  type SignedCheckpoint,
} from "./verify/checkpoint_check.ts";
export { requestSeal, type SealState, sealState, sealTogether } from "./seal/outbox.ts";
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
} from "./receipts/read.ts";
export { bindExportStream } from "./api/export_stream.ts";
export { leafOf } from "./rules/leaf.ts";
export { logHashes, type PublishedCheckpoint, publishedCheckpoint } from "./log/log_hashes.ts";
export { type LogPlace, logPlace } from "./log/log_place.ts";
export {
  contradiction,
  LogBroken,
  type LogOptions,
  type LogWriter,
  openLog,
} from "./log/log_writer.ts";
export { bindLog } from "./api/log_routes.ts";
export {
  commitment,
  prepare,
  randomHex,
  receiptTime,
  type SealRequest,
} from "./receipts/receipt.ts";
export { LedgerAway, openLedgerUrl, type RemoteLedger } from "./verify/ledger_url.ts";
export { BadPublicKey, fingerprintOf, keysToTrust, readPublicKey } from "./verify/public_key.ts";
export { type Imported, importLedger, type ImportOptions, ImportRefused } from "./import/import.ts";
export { openReceiptFile, type ReceiptFile } from "./verify/receipt_file.ts";
export { BadReceiptFile } from "./verify/receipt_stream.ts";
export { openSealer, type Requested, type Sealed, type Sealer } from "./seal/sealer.ts";
export { runSequencer, SequencerBusy, type SequencerOptions } from "./seal/sequencer.ts";
export type { Break, Check, Checks, Place, TrustedKey, Verdict } from "./rules/rules.ts";
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
} from "./scrub/scrub.ts";
export { type StoredVerdict, verifyStored } from "./verify/stored.ts";
export {
  type ChainVerdict,
  type ParallelOptions,
  verifyInParallel,
} from "./verify/verify_parallel.ts";
export { verifyChain, verifyReceipt } from "./verify/verify.ts";
export {
  type ChainState,
  type ChainWatch,
  type ScrubState,
  watchChain,
  type WatchOptions,
} from "./scrub/watch.ts";

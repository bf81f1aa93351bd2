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
export { advanceAnchor, type Anchor, ANCHOR_CONFIRMED, type AnchorBlock, type AnchorParts, type AnchorProgress, type AnchorTotals, type BatchRange, buildReceiptProof, findAnchor, listAnchors, openAnchors, readAnchorTotals, readReceiptBytes } from "./anchors/mod.ts";
export { type AnchorSummary, anchorSummary, bindExportStream, bindLog, ledgerOperations, type LedgerParts } from "./api/mod.ts";
export { type Imported, importLedger, type ImportOptions, ImportRefused } from "./import/mod.ts";
export { contradiction, LogBroken, logHashes, type LogOptions, type LogPlace, logPlace, type LogWriter, openLog, type PublishedCheckpoint, publishedCheckpoint } from "./log/mod.ts";
export { AmbiguousReceipt, commitment, exportReceipts, findReceipt, type Head, head, ledgerKeys, pageReceipts, prepare, randomHex, receiptById, ReceiptConflict, ReceiptNotFound, receiptTime, type SealRequest, type Stored, supersededBy } from "./receipts/mod.ts";
export { type Break, canonicalFields, canonicalFromText, canonicalItems, canonicalize, type Check, type Checks, leafOf, NotCanonical, type Place, type TrustedKey, type Verdict } from "./rules/mod.ts";
export { beginScrub, type ChainSnapshot, type ChainState, type ChainWatch, type CompactRange, endScrub, type FailedCheck, type LedgerBreak, scrubPart, type ScrubParts, type ScrubPass, type ScrubResult, type ScrubState, watchChain, type WatchOptions } from "./scrub/mod.ts";
export { openSealer, type Requested, requestSeal, runSequencer, type Sealed, type Sealer, type SealState, sealState, sealTogether, SequencerBusy, type SequencerOptions } from "./seal/mod.ts";
export { BadPublicKey, BadReceiptFile, type ChainVerdict, checkCheckpoint, type CheckpointCheck, fingerprintOf, keysToTrust, LedgerAway, openLedgerUrl, openReceiptFile, type ParallelOptions, readPublicKey, type ReceiptFile, type RemoteLedger, type SignedCheckpoint, type StoredVerdict, verifyChain, verifyInParallel, verifyReceipt, verifyStored } from "./verify/mod.ts";

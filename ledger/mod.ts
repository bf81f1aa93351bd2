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
export { type ImportResult, importLedger, type ImportOptions, ImportRefused } from "./import/mod.ts";
export { findContradiction, LogBroken, createHashReader, type LogOptions, type LogSettings, readLogSettings, type LogWriter, openLog, type PublishedCheckpoint, getPublishedCheckpoint } from "./log/mod.ts";
export { AmbiguousReceipt, computeCommitment, exportReceipts, findReceipt, type LedgerHead, getHead, listLedgerKeys, listReceipts, prepareRequest, randomHex, getReceipt, ReceiptConflict, ReceiptNotFound, formatReceiptTime, type SealRequest, type StoredReceipt, findCorrection } from "./receipts/mod.ts";
export { type Break, canonicalizeFields, canonicalizeText, canonicalizeItems, canonicalize, type Check, type Checks, formatLeaf, NotCanonical, type Place, type TrustedKey, type Verdict } from "./rules/mod.ts";
export { beginScrub, type ChainSnapshot, type ChainState, type ChainWatch, type CompactRange, endScrub, type FailedCheck, type LedgerBreak, scrubPart, type ScrubParts, type ScrubPass, type ScrubResult, type ScrubState, watchChain, type WatchOptions } from "./scrub/mod.ts";
export { openSealer, type Requested, requestSeal, runSequencer, type SealedReceipt, type Sealer, type SealState, getSealState, sealTogether, SequencerBusy, type SequencerOptions } from "./seal/mod.ts";
export { BadPublicKey, BadReceiptFile, type ChainVerdict, openCheckpointCheck, type CheckpointCheck, computeFingerprint, selectTrustedKeys, LedgerUnreachable, openLedgerUrl, openReceiptFile, type ParallelOptions, readPublicKey, type ReceiptFile, type RemoteLedger, type SignedCheckpoint, type StoredVerdict, verifyChain, verifyInParallel, verifyReceipt, verifyStored } from "./verify/mod.ts";

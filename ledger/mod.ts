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
  advanceAnchor,
  ANCHOR_CONFIRMED,
  type AnchorParts,
  type AnchorProgress,
  type BatchRange,
  buildReceiptProof,
  getAnchorTotals,
  getReceiptBytes,
  openAnchors,
} from "./anchors/mod.ts";
export {
  bindExportStream,
  bindLog,
  createLedgerInvoke,
  createPageCalls,
  ledgerOperations,
} from "./api/mod.ts";
export { backUp, loadBackup, verifyBackup } from "./backup/mod.ts";
export { importLedger, type ImportOptions } from "./import/mod.ts";
export {
  createHashReader,
  describeWaiting,
  getPublishedCheckpoint,
  getPublishingState,
  LogBroken,
  type LogWriter,
  openLog,
  readLogSettings,
  writeDurably,
} from "./log/mod.ts";
export {
  beginNewLedger,
  restoreLedger,
  type RestoreOptions,
  type RestoreResult,
} from "./restore/mod.ts";
export {
  canonicalize,
  deleteOldEvidence,
  type EvidenceEntry,
  exportReceipts,
  findReceipt,
  formatReceiptTime,
  getHead,
  getReceipt,
  listLedgerKeys,
  listReceipts,
  listReceiptsBy,
  prepareRequest,
  randomHex,
  readEvidence,
  ReceiptConflict,
  ReceiptNotFound,
  rootKeyFile,
  type SealRequest,
  type StoredReceipt,
  useRootKey,
} from "./receipts/mod.ts";
export { bundleEvidence, readOpenable } from "./opening/mod.ts";
export { formatBundle, verifyEvidence } from "./opened/mod.ts";
export { formatLeaf, formatPlaceStatement, PLACE_ENROLLED, type TrustedKey } from "./rules/mod.ts";
export {
  BadKeyFile,
  computeFingerprint,
  loadSigningKey,
  NODE_PRIMITIVES,
  readPublicKey,
  selectTrustedKeys,
  type SigningKey,
} from "./crypto/mod.ts";
export {
  beginScrub,
  type ChainSnapshot,
  type ChainState,
  type ChainWatch,
  endScrub,
  scrubPart,
  type ScrubParts,
  type ScrubPass,
  type ScrubResult,
  watchChain,
  type WatchOptions,
} from "./scrub/mod.ts";
export {
  describeRefill,
  ensureRecoveryKey,
  findSignerProblem,
  getSealState,
  isSequencerAtWork,
  makeRecoveryKey,
  openSealer,
  parseRecoveryKey,
  recoverLedgerKey,
  reportSignerProblem,
  requestRotation,
  requestSeal,
  requestSeals,
  runSequencer,
  sealArguments,
  type Sealer,
  SealingHeld,
  type SignerProblem,
} from "./seal/mod.ts";
export { acceptClock, openSigner, serveKey } from "./signer/mod.ts";
export {
  BadTrust,
  formatTrust,
  NOTHING_PINNED,
  parseTrust,
  pinShown,
  type Trust,
  withCheckpoint,
} from "./trust/mod.ts";
export {
  exitCodeOf,
  type LedgerSource,
  type LedgerVerdict,
  openLedgerUrl,
  openReceiptFile,
  readFileKeys,
  type StoredVerdict,
  verifyChain,
  verifyInParallel,
  verifySource,
  verifyStored,
} from "./verify/mod.ts";

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
  type LedgerParts,
} from "./api/mod.ts";
export {
  backUp,
  type BackupOptions,
  BadBackup,
  loadBackup,
  type LoadedBackup,
  verifyBackup,
} from "./backup/mod.ts";
export {
  importLedger,
  type ImportOptions,
  ImportRefused,
  type ImportResult,
} from "./import/mod.ts";
export {
  createHashReader,
  describeWaiting,
  findContradiction,
  getPublishedCheckpoint,
  getPublishingState,
  LogBroken,
  type LogOptions,
  type LogSettings,
  type LogWriter,
  openLog,
  type PublishedCheckpoint,
  readLogSettings,
  writeDurably,
} from "./log/mod.ts";
export {
  beginNewLedger,
  type NewLedger,
  type NewLedgerOptions,
  type ReplacedLedger,
  restoreLedger,
  type RestoreOptions,
  RestoreRefused,
  type RestoreResult,
} from "./restore/mod.ts";
export {
  AmbiguousReceipt,
  canonicalize,
  deleteOldEvidence,
  type EvidenceEntry,
  type EvidenceRetention,
  exportReceipts,
  findReceipt,
  formatReceiptTime,
  getHead,
  getReceipt,
  type LedgerHead,
  listLedgerKeys,
  listReceipts,
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
export {
  type Break,
  type Check,
  type Checks,
  formatLeaf,
  type Place,
  type TrustedKey,
  type Verdict,
} from "./rules/mod.ts";
export {
  BadPublicKey,
  computeFingerprint,
  NODE_PRIMITIVES,
  readPublicKey,
  selectTrustedKeys,
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
  ensureRecoveryKey,
  getSealState,
  isSequencerAtWork,
  makeRecoveryKey,
  openSealer,
  parseRecoveryKey,
  recoverLedgerKey,
  RecoveryRefused,
  requestRotation,
  requestSeal,
  requestSeals,
  runSequencer,
  sealArguments,
  type SealedReceipt,
  type Sealer,
  SealingHeld,
  type SealState,
  SequencerBusy,
  type SequencerOptions,
} from "./seal/mod.ts";
export {
  acceptClock,
  openFileSigner,
  readSignerState,
  type Signer,
  SignerStateError,
} from "./signer/mod.ts";
export {
  BadTrust,
  formatTrust,
  isPinned,
  NOTHING_PINNED,
  parseTrust,
  pinShown,
  type Trust,
  withCheckpoint,
} from "./trust/mod.ts";
export {
  BadReceiptFile,
  type ChainVerdict,
  exitCodeOf,
  type LedgerSource,
  LedgerUnreachable,
  type LedgerVerdict,
  openLedgerUrl,
  openReceiptFile,
  type ParallelOptions,
  readFileKeys,
  type ReceiptFile,
  type RemoteLedger,
  type StoredVerdict,
  verifyChain,
  verifyInParallel,
  verifySource,
  verifyStored,
} from "./verify/mod.ts";

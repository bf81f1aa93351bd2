/**
 * Receipts as they are requested, stored and read.
 *
 * ```ts
 * const receipt = await findReceipt(store, "9f2c41d0");      // an id, or a prefix of an id or hash
 * const receipts = await exportReceipts(store, { from: 0, to: 500 });
 * ```
 *
 * Trusts nothing it reads: receipts prove themselves (see `verify/`).
 * @module
 */
export { canonicalize } from "./canonicalize.ts";
export { countByCategory, countByDay, countReceiptsBy } from "./count.ts";
export { LIST_ENROLMENTS, listEnrolments, toEnrolments } from "./enrolments.ts";
export { AmbiguousReceipt, ReceiptConflict, ReceiptNotFound } from "./errors.ts";
export { deleteOldEvidence, type EvidenceEntry, readEvidence } from "./evidence.ts";
export { findReceipt } from "./find.ts";
export { findStoredKeyBreaks, proveStoredKeys } from "./key_succession.ts";
export { listReceiptsBy, type ReceiptFilter } from "./list.ts";
export { printRecord } from "./print_record.ts";
export {
  exportReceipts,
  findCorrection,
  getHead,
  getReceipt,
  type LedgerHead,
  LIST_KEYS,
  listLedgerKeys,
  listReceipts,
  listReceiptsOfFile,
  type StoredReceipt,
  toLedgerKey,
} from "./read.ts";
export { getRootKeyFile, rootKeyFile, useRootKey } from "./root_key.ts";
export {
  formatReceiptTime,
  type PreparedRequest,
  prepareRequest,
  randomHex,
  receiptProblem,
  SCHEMA_VERSION,
  type SealRequest,
} from "./request.ts";

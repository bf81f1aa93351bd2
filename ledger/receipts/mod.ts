export { AmbiguousReceipt, ReceiptConflict, ReceiptNotFound } from "./errors.ts";
export {
  exportReceipts,
  findCorrection,
  findReceipt,
  getHead,
  getReceipt,
  type LedgerHead,
  listLedgerKeys,
  listReceipts,
  printRecord,
  type StoredReceipt,
} from "./read.ts";
export {
  computeCommitment,
  formatReceiptTime,
  type PreparedRequest,
  prepareRequest,
  randomHex,
  SCHEMA_VERSION,
  type SealRequest,
} from "./receipt.ts";

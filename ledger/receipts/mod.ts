export { AmbiguousReceipt, ReceiptConflict, ReceiptNotFound } from "./errors.ts";
export { exportReceipts, findReceipt, getHead, type LedgerHead, listLedgerKeys, listReceipts, printRecord, getReceipt, type StoredReceipt, findCorrection } from "./read.ts";
export { computeCommitment, prepareRequest, type PreparedRequest, randomHex, formatReceiptTime, SCHEMA_VERSION, type SealRequest } from "./receipt.ts";

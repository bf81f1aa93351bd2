export { AmbiguousReceipt, ReceiptConflict, ReceiptNotFound } from "./errors.ts";
export { exportReceipts, findReceipt, head, type Head, ledgerKeys, pageReceipts, printRecord, receiptById, type Stored, supersededBy } from "./read.ts";
export { commitment, prepare, type Prepared, randomHex, receiptTime, SCHEMA_VERSION, type SealRequest } from "./receipt.ts";

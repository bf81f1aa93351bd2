/**
 * Verification of receipts and chains: stored, exported to a file, or read from a public ledger.
 *
 * ```ts
 * const file = await openReceiptFile("export.ndjson");
 * const { total, firstBreaks } = await verifyInParallel(file.batches(), selectTrustedKeys(file.envelope, []));
 * ```
 *
 * Trusts: the keys it is given. Doesn't trust: the receipts, nor their source.
 * @module
 */
export { readFileKeys } from "./file_keys.ts";
export { openLedgerUrl } from "./ledger_url.ts";
export { hashFile, openReceiptFile, type ReceiptFile } from "./receipt_file.ts";
export { verifyChain } from "./verify.ts";
export { type ChainVerdict, verifyInParallel } from "./verify_parallel.ts";
export {
  exitCodeOf,
  type LedgerSource,
  type LedgerVerdict,
  verifySource,
} from "./verify_source.ts";
export { type StoredVerdict, verifyStored } from "./verify_stored.ts";

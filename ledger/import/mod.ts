/**
 * Import of an existing ledger as the beginning of an empty one.
 *
 * ```ts
 * const { total } = await importLedger(store, "export.json", { keys: [publicKey] });
 * ```
 *
 * Trusts: the keys it is given, or else those that the file names. Doesn't trust: the receipts; all are verified first.
 * @module
 */
export { importLedger, type ImportOptions } from "./import.ts";

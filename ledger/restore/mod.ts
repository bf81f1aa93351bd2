/**
 * Restoring a ledger after a loss: of receipts in the database, or of the signer's state.
 *
 * ```ts
 * const { restored } = await restoreLedger({ store, keyFile, log, exports: ["export.ndjson"] });
 * ```
 *
 * Trusts: the signer's state where it is whole, else the checkpoint that it is given. Doesn't trust: the exports, nor the
 * database.
 * @module
 */
export { beginNewLedger } from "./new_ledger.ts";
export { restoreLedger, type RestoreOptions, type RestoreResult } from "./restore.ts";

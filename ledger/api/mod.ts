/**
 * The public ledger's REST API: operations, the export as a stream, and the Merkle log at the paths of C2SP tlog-tiles.
 *
 * ```ts
 * const app = createRestApp({ operations: ledgerOperations, invoke, … });
 * bindLog(router, store);
 * bindExportStream(router, store);
 * ```
 *
 * Everybody may read everything; nothing can be written.
 * @module
 */
export { bindExportStream } from "./export_stream.ts";
export { createLedgerInvoke, createPageCalls } from "./invoke.ts";
export { bindLog } from "./log_routes.ts";
export { ledgerOperations } from "./operations.ts";

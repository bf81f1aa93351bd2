/**
 * Runbooks and scripts that the worker has loaded.
 *
 * ```ts
 * const changes = await replaceRunbooks(trx, runbooks);
 * ```
 * @module
 */
export type { InForce } from "./merge.ts";
export {
  getRunbookValues,
  listRunbookDocuments,
  listRunbooks,
  replaceCommands,
  replaceRunbooks,
  replaceRunbookValues,
} from "./runbooks.ts";
export { findScriptVersion, getScript, listScripts, replaceScripts } from "./scripts.ts";

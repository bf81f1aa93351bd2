/**
 * Commands of operators. Each is a program of this folder, but for the import, which is a word of `npm run ledger`.
 *
 * @module
 */
export { runImport } from "./_import.ts";

export { type ImportResult, importLedger, type ImportOptions, ImportRefused } from "./import.ts";

export { type Imported, importLedger, type ImportOptions, ImportRefused } from "./import.ts";

/** Receipts: reading, verifying and sealing them. @module */
import { ledgerEntry, ledgerPage } from "./entries.ts";
import { chainVerification, receiptSearch, receiptVerification } from "./receipts.ts";
import { sealEvent, sealStatus } from "./seal.ts";

/** Operations of this folder. */
export const ledgerOperations = [
  ledgerPage,
  ledgerEntry,
  sealEvent,
  sealStatus,
  receiptVerification,
  chainVerification,
  receiptSearch,
];

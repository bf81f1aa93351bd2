import { ACCESS_EVIDENCE } from "./_access_evidence.ts";
import { LEDGER_EVIDENCE } from "./_ledger_evidence.ts";
import { OPERATIONS_EVIDENCE } from "./_operations_evidence.ts";

/** All pieces of evidence that controls can require, by name. */
export const EVIDENCE = {
  ...ACCESS_EVIDENCE,
  ...LEDGER_EVIDENCE,
  ...OPERATIONS_EVIDENCE,
};

/** Name of a piece of evidence. */
export type EvidenceName = keyof typeof EVIDENCE;

/** Categories of receipts that prove any evidence. */
export const EVIDENCE_RECEIPT_CATEGORIES: readonly string[] = [
  ...new Set(Object.values(EVIDENCE).flatMap(({ receipts }): readonly string[] => receipts)),
];

import type { Break, Checks } from "../rules/mod.ts";

/**
 * The check that failed: one of the receipt itself, or `columns` (its row differs from its record), `missing` (there is
 * no receipt), `head` (the head of the chain, or a receipt that was verified before, is another), `log` (the Merkle log
 * has another receipt), `keys` (another key is published than before, or one without a succession), `anchor` (the anchors in Bitcoin do not match).
 */
export type FailedCheck = keyof Checks | "columns" | "missing" | "head" | "log" | "keys" | "anchor";

/** A position at which the stored chain does not hold. */
export interface LedgerBreak extends Break {
  readonly check: FailedCheck;
  /** Id in the receipt's row; null if the break is not about one row. */
  readonly receiptId: string | null;
}

/** Makes a break. */
export function ledgerBreak(
  position: number,
  check: FailedCheck,
  reason: string,
  receiptId: string | null = null,
): LedgerBreak {
  return { position, check, reason, receiptId };
}

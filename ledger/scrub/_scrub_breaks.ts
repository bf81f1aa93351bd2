import type { Db } from "../../store/mod.ts";
import { requestSeal } from "../seal/mod.ts";
import { healBreaks, keepBreaks } from "./_scrub_rows.ts";
import type { LedgerBreak } from "./_span.ts";

/** Breaks of a pass that are kept and sealed one by one; what is more is counted. */
export const MOST_KEPT = 10_000;
const RECEIPT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Keeps breaks, and asks for the receipt of each that is new, in one transaction. */
export async function keep(
  on: Db,
  { onBreak }: { readonly onBreak: (found: LedgerBreak) => void },
  { pass, found }: { readonly pass: number; readonly found: number },
  breaks: readonly LedgerBreak[],
): Promise<void> {
  const kept = breaks.slice(0, Math.max(0, MOST_KEPT - found));
  for (const fresh of await keepBreaks(on, pass, kept)) {
    onBreak(fresh);
    const { position, check, receiptId } = fresh;
    const subject = receiptId && RECEIPT_ID.test(receiptId) ? receiptId : `position-${position}`;
    await requestSeal(on, receiptOf(pass, { position, check, subject }));
  }
}

/** Marks as healed what a pass has not found any more, and asks for the receipts of that. */
export async function heal(on: Db, pass: number): Promise<void> {
  for (const position of await healBreaks(on, pass)) {
    await requestSeal(on, receiptOf(pass, { position, subject: `position-${position}` }));
  }
}

/**
 * The receipt of a break, or of its end where no check is named. Its id is random: it is asked for together with the row
 * that says so, and so once; one that was made of numbers could be taken.
 */
function receiptOf(
  pass: number,
  { position, check, subject }: { position: number; check?: string; subject: string },
) {
  return {
    category: "ledger_break",
    actor: "ledger-scrub",
    subject,
    action: "scrub",
    outcome: check ? "broken" : "healed",
    details: { pass, position, ...(check ? { check } : {}) },
  };
}

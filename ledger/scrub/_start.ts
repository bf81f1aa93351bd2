import type { Store } from "../../store/mod.ts";
import { exportReceipts, listLedgerKeys } from "../receipts/mod.ts";
import type { Place } from "../rules/mod.ts";
import { findReplacedKeys } from "./_chain_end.ts";
import { verifyStoredReceipt } from "./_receipt_check.ts";
import type { VerifiedMark } from "./_verified_mark.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/** A place to continue at, and the breaks found on the way to it. */
export interface Start {
  readonly place: Place;
  readonly breaks: readonly LedgerBreak[];
}

const CHANGED = "This is not the receipt that was verified at this position";

/**
 * Finds where to continue: after the part that was verified before, if it ends with the same receipt and is further than
 * `place`; else at `place`.
 *
 * @param place after the part that this process has verified
 * @param size receipts there are now
 * @param mark of this process or one before it; without it the scrub's verified part counts
 */
export async function findStart(
  store: Store,
  place: Place,
  size: number,
  mark: VerifiedMark | undefined,
  scrubbed: Place,
): Promise<Start> {
  const { position, previousHash } = mark
    ? { position: mark.size, previousHash: mark.hash }
    : scrubbed;
  if (position <= place.position) return { place, breaks: [] };
  const changed = await checkLastReceipt(store, place);
  if (changed) return { place, breaks: [changed] };
  const keys = await listLedgerKeys(store);
  const breaks = mark ? findReplacedKeys(mark, keys) : [];
  const rows = await exportReceipts(store, { from: Math.max(0, position - 2), to: position });
  const last = rows.at(-1);
  if (last?.position !== position - 1 || last.hash !== previousHash) {
    const missing = ledgerBreak(Math.min(position - 1, size), "head", CHANGED);
    return { place, breaks: [...breaks, missing] };
  }
  if (breaks.length > 0 || mark?.whole === false) return { place, breaks };
  const before = rows.length > 1 ? rows[0] : undefined;
  const lastPlace = {
    position: last.position,
    previousHash: before?.hash ?? "",
    previousEra: before?.era,
  };
  const { broken, next } = verifyStoredReceipt(last, lastPlace, keys);
  return { place: next, breaks: broken ? [broken] : [] };
}

/** Checks that the verified part still ends with the same receipt. */
async function checkLastReceipt(
  store: Store,
  { position, previousHash }: Place,
): Promise<LedgerBreak | undefined> {
  if (position === 0) return undefined;
  const [last] = await exportReceipts(store, { from: position - 1, to: position });
  return last?.hash === previousHash ? undefined : ledgerBreak(position - 1, "head", CHANGED);
}

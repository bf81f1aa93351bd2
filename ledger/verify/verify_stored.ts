import type { Store } from "../../store/mod.ts";
import {
  exportReceipts,
  findCorrection,
  listLedgerKeys,
  type StoredReceipt,
} from "../receipts/mod.ts";
import type { Verdict } from "../rules/mod.ts";
import { verifyReceipt } from "./verify.ts";

/** A stored receipt's verdict, and which newer one says that it corrects it. */
export interface StoredVerdict extends Verdict {
  readonly superseded_by: string | null;
}

/** Verifies a stored receipt against the one before it and the published keys, and looks for its correction. */
export async function verifyStored(store: Store, receipt: StoredReceipt): Promise<StoredVerdict> {
  const { position, text } = receipt;
  const [before, keys, superseded_by] = await Promise.all([
    position === 0 ? [] : exportReceipts(store, { from: position - 1, to: position }),
    listLedgerKeys(store),
    findCorrection(store, receipt.id),
  ]);
  const place = { position, previousHash: before[0]?.hash ?? "", previousEra: before[0]?.era };
  return { ...verifyReceipt(text, place, keys), superseded_by: superseded_by ?? null };
}

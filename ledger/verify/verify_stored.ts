import type { Store } from "../../store/mod.ts";
import {
  exportReceipts,
  findCorrection,
  listLedgerKeys,
  proveStoredKeys,
  type StoredReceipt,
} from "../receipts/mod.ts";
import { listProvenKeys, type TrustedKey, type Verdict } from "../rules/mod.ts";
import { verifyReceipt } from "./verify.ts";

/** A stored receipt's verdict, and which newer one says that it corrects it. */
export interface StoredVerdict extends Verdict {
  readonly superseded_by: string | null;
}

/**
 * Verifies a stored receipt against the one before it and the published keys, and looks for its correction. A key that no
 * receipt introduces is not trusted.
 */
export async function verifyStored(store: Store, receipt: StoredReceipt): Promise<StoredVerdict> {
  const { position, text } = receipt;
  const [before, keys, superseded_by] = await Promise.all([
    position === 0 ? [] : exportReceipts(store, { from: position - 1, to: position }),
    listLedgerKeys(store),
    findCorrection(store, receipt.id),
  ]);
  const place = { position, previousHash: before[0]?.hash ?? "", previousEra: before[0]?.era };
  const verdict = verifyReceipt(text, place, await trustProvenKeys(store, keys));
  return { ...verdict, superseded_by: superseded_by ?? null };
}

/** The keys that were proven last, by their list as JSON. */
const proven = new WeakMap<Store, { readonly keys: string; readonly trusted: TrustedKey[] }>();

/** Returns the published keys up to the first that has no succession. */
async function trustProvenKeys(store: Store, keys: readonly TrustedKey[]): Promise<TrustedKey[]> {
  const list = JSON.stringify(keys);
  const last = proven.get(store);
  if (last?.keys === list) return last.trusted;
  const trusted = listProvenKeys(keys, await proveStoredKeys(store, keys));
  proven.set(store, { keys: list, trusted });
  return trusted;
}

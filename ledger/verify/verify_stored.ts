import type { Store } from "../../store/mod.ts";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  exportReceipts,
  findCorrection,
  listEnrolments,
  listLedgerKeys,
  proveStoredKeys,
  type StoredReceipt,
} from "../receipts/mod.ts";
import {
  findPlaceFault,
  listProvenKeys,
  type NamedPlaces,
  type TrustedKey,
  type Verdict,
  verifyRecord,
} from "../rules/mod.ts";

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
  const trusted = await trustProvenKeys(store, keys);
  const { verdict, places } = verifyRecord(text, place, trusted, NODE_PRIMITIVES);
  const fault = await findFaultOfPlaces(store, position, places);
  const all = fault === undefined
    ? verdict
    : { ...verdict, verified: false, reasons: [...verdict.reasons, fault] };
  return { ...all, superseded_by: superseded_by ?? null };
}

/** Finds why the acts of a receipt don't hold after those before it. */
async function findFaultOfPlaces(
  store: Store,
  position: number,
  places: NamedPlaces,
): Promise<string | undefined> {
  if (places.acted.length === 0 && !places.isUnsigned) return undefined;
  const enrolled = [...await listEnrolments(store)].filter(([, at]) => at < position);
  return findPlaceFault(places, new Set(enrolled.map(([place]) => place)));
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

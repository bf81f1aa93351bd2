import type { Store } from "../../store/mod.ts";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import { type Break, type KeyProof, proveKeys, type TrustedKey } from "../rules/mod.ts";
import { exportReceipts, getHead } from "./read.ts";
import { readRootKey } from "./root_key.ts";

/** Looks for the stored receipts that introduce published keys. */
export async function proveStoredKeys(
  store: Store,
  keys: readonly TrustedKey[],
): Promise<KeyProof> {
  const { size } = await getHead(store);
  const read = async (position: number) =>
    (await exportReceipts(store, { from: position, to: position + 1 }))[0]?.text;
  return await proveKeys(keys, size, read, NODE_PRIMITIVES);
}

/**
 * Finds published keys that no stored receipt introduces, or that the first key of this platform does not vouch for, where
 * that is known.
 */
export async function findStoredKeyBreaks(
  store: Store,
  keys: readonly TrustedKey[],
): Promise<readonly Break[]> {
  const { breaks, unproven } = await proveStoredKeys(store, keys);
  if (keys.length === 0 || await readRootKey(store) === undefined) return breaks;
  const position = keys.some((key) => key.isPinned) ? unproven : 0;
  if (position === undefined || breaks.some((one) => one.position === position)) return breaks;
  const reason = "The keys from here on are not those that this platform began its ledger with";
  return [...breaks, { position, reason }];
}

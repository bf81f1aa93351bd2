import type { Store } from "../../store/mod.ts";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import { type Break, type KeyProof, proveKeys, type TrustedKey } from "../rules/mod.ts";
import { exportReceipts, getHead } from "./read.ts";

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
 * Finds published keys that no stored receipt introduces.
 *
 * @param keys where some are pinned, keys that these do not vouch for are a break, too
 */
export async function findStoredKeyBreaks(
  store: Store,
  keys: readonly TrustedKey[],
): Promise<readonly Break[]> {
  const { breaks, unproven } = await proveStoredKeys(store, keys);
  const isPinned = keys.some((key) => key.isPinned);
  const isKnown = breaks.some(({ position }) => position === unproven);
  if (!isPinned || unproven === undefined || isKnown) return breaks;
  const reason = "The keys from here on are not those that this platform began its ledger with";
  return [...breaks, { position: unproven, reason }];
}

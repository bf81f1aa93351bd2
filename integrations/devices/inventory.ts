import { hash } from "node:crypto";
import { canonicalizeValues, joinFields } from "../../ledger/rules/mod.ts";
import { type Db, type InventoryTexts, putInventory, setInventoryHash } from "../../store/mod.ts";

/** Returns the SHA-256 of the canonical form of all sections together, as the device computes it. */
export function hashInventory(sections: InventoryTexts): string {
  return hash("sha256", joinFields(new Map(sections)));
}

/**
 * Stores sections that have changed. Where they are the whole inventory, sections that the device no longer has go.
 *
 * @param inventorySha256 of the device's whole inventory
 * @returns the hash of what is stored then: another one where sections are missing, which the device then sends again
 * @throws {NotCanonical} a section has no canonical form
 */
export async function storeInventory(
  trx: Db,
  deviceId: string,
  delta: Readonly<Record<string, unknown>>,
  inventorySha256: string,
): Promise<string> {
  const changed = canonicalizeValues(delta);
  const isWhole = hashInventory(changed) === inventorySha256;
  const stored = hashInventory(await putInventory(trx, deviceId, changed, isWhole));
  await setInventoryHash(trx, deviceId, stored);
  return stored;
}

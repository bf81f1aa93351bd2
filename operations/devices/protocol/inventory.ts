import { hash } from "node:crypto";
import { canonicalizeValues, joinFields, NotCanonical } from "../../../ledger/rules/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { type InventoryTexts, putInventory, setInventoryHash } from "../../../store/devices/mod.ts";

/** Returns the SHA-256 of the canonical form of all sections together, as the device computes it. */
function hashInventory(sections: InventoryTexts): string {
  return hash("sha256", joinFields(new Map(sections)));
}

/** Limits of one device's inventory, which holds what single heartbeats brought. */
export const MAX_SECTIONS = 40;
const MAX_CHARACTERS = 1024 * 1024;

/** Returns whether sections can be stored and hashed as the device hashes them. */
export function isInventory(delta: Readonly<Record<string, unknown>>): boolean {
  try {
    return canonicalizeValues(delta).size <= MAX_SECTIONS;
  } catch (error) {
    if (error instanceof NotCanonical) return false;
    throw error;
  }
}

/**
 * Stores sections that have changed. Where they are the whole inventory, sections that the device no longer has go. Where
 * all of them together are too many or too long, all go.
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
  let sections = await putInventory(trx, deviceId, changed, isWhole);
  const length = [...sections.values()].reduce((sum, text) => sum + text.length, 0);
  if (sections.size > MAX_SECTIONS || length > MAX_CHARACTERS) {
    sections = await putInventory(trx, deviceId, new Map(), true);
  }
  const stored = hashInventory(sections);
  await setInventoryHash(trx, deviceId, stored);
  return stored;
}

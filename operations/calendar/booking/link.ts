/** Links by which calendar programs read a calendar, as they can send no key. */
import { timingSafeEqual } from "node:crypto";
import { keyedHash, type Store } from "../../../store/mod.ts";
import { findValidKeys, type KeyRecord } from "../../../store/keys/mod.ts";
import { getLinkGeneration } from "../../../store/calendar/mod.ts";

const LINK = /^([0-9a-f]{16})-([A-Za-z0-9_-]{43})$/;

/**
 * Returns the name of the link of a key: the key's id, and a MAC that nobody can guess. It holds as long as the key, and
 * until it is renewed.
 *
 * @param store in the name of the key's tenant
 */
export async function linkOf(store: Store, keyId: string): Promise<string> {
  const generation = await getLinkGeneration(store.db, keyId);
  const mac = await keyedHash(store, "calendar_links", store.tenant, keyId, String(generation));
  return `${keyId}-${mac.toString("base64url")}`;
}

/** Returns the key whose link has this name; undefined: nobody's, or the key is valid no more. */
export async function findKeyOfLink(store: Store, name: string): Promise<KeyRecord | undefined> {
  const keyId = LINK.exec(name)?.[1];
  if (keyId === undefined) return undefined;
  const [key] = await findValidKeys(store.asPlatform(), [keyId]);
  if (!key) return undefined;
  const expected = await linkOf(store.forTenant(key.tenant), keyId);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(name)) ? key : undefined;
}

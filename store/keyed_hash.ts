import { createHmac } from "node:crypto";
import type { Db, Store } from "./connection.ts";
import type { SecretPurpose } from "./rights/mod.ts";

/** The secrets of each open database that were read, by their purpose. They never change, and are the same for all tenants. */
const secrets = new WeakMap<Store["pool"], Map<SecretPurpose, Promise<Buffer>>>();

/**
 * Returns a keyed hash: HMAC-SHA-256 under the platform's secret of one purpose. It makes ids of private text, as receipts
 * publish such ids, and a plain hash would let everybody test guesses at the text; and codes and links that nobody else can
 * make.
 *
 * @param purpose what the hash is for: equal parts give unrelated hashes for another one
 * @returns 32 bytes, the same in every process of the platform
 * @throws where the role of the store does not make or check what this purpose is for
 */
export async function keyedHash(
  store: Store,
  purpose: SecretPurpose,
  ...parts: readonly string[]
): Promise<Buffer> {
  return hashUnder(await readSecret(store, purpose), purpose, parts);
}

/** Does the same within a transaction. */
export async function keyedHashWithin(
  trx: Db,
  purpose: SecretPurpose,
  ...parts: readonly string[]
): Promise<Buffer> {
  return hashUnder(await selectSecret(trx, purpose), purpose, parts);
}

/** Returns the fingerprint of a fault of the store's tenant, 16 hex characters, from the parts that identify it. */
export async function fingerprintFault(store: Store, ...parts: readonly string[]): Promise<string> {
  return (await keyedHash(store, "faults", store.tenant, ...parts)).toString("hex", 0, 8);
}

function hashUnder(secret: Buffer, purpose: SecretPurpose, parts: readonly string[]): Buffer {
  return createHmac("sha256", secret).update(JSON.stringify([purpose, ...parts])).digest();
}

async function readSecret(store: Store, purpose: SecretPurpose): Promise<Buffer> {
  const known = secrets.get(store.pool) ?? new Map<SecretPurpose, Promise<Buffer>>();
  secrets.set(store.pool, known);
  let secret = known.get(purpose);
  if (!secret) {
    secret = selectSecret(store.asPlatform(), purpose);
    known.set(purpose, secret);
    secret.catch(() => known.delete(purpose)); // the database is away: the next call reads it again
  }
  return await secret;
}

async function selectSecret(db: Db, purpose: SecretPurpose): Promise<Buffer> {
  const row = await db.first<{ secret: Buffer }>(
    `SELECT ${purpose} AS secret FROM platform_secrets`,
  );
  return row!.secret;
}

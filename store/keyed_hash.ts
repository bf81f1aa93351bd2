import { createHmac } from "node:crypto";
import type { Store } from "./connection.ts";

/** The secret of each open database. It never changes, and is the same for all tenants. */
const secrets = new WeakMap<Store["pool"], Promise<Buffer>>();

/**
 * Returns the hash from which ids of private text are made: HMAC-SHA-256 under the platform's secret. Receipts publish
 * such ids, so that a plain hash would let everybody test guesses at the text.
 *
 * @param purpose what the hash is for, so that equal parts give unrelated ids elsewhere
 * @returns 32 bytes, the same in every process of the platform
 */
export async function keyedHash(
  store: Store,
  purpose: string,
  ...parts: readonly string[]
): Promise<Buffer> {
  const secret = await readSecret(store);
  return createHmac("sha256", secret).update(JSON.stringify([purpose, ...parts])).digest();
}

/** Returns the fingerprint of a fault of the store's tenant, 16 hex characters, from the parts that identify it. */
export async function fingerprintFault(store: Store, ...parts: readonly string[]): Promise<string> {
  return (await keyedHash(store, "fault", store.tenant, ...parts)).toString("hex", 0, 8);
}

async function readSecret(store: Store): Promise<Buffer> {
  let secret = secrets.get(store.pool);
  if (!secret) {
    secret = selectSecret(store);
    secrets.set(store.pool, secret);
    secret.catch(() => secrets.delete(store.pool)); // the database is away: the next call reads it again
  }
  return await secret;
}

async function selectSecret(store: Store): Promise<Buffer> {
  const row = await store.asPlatform().first<{ secret: Buffer }>(
    "SELECT secret FROM platform_secret",
  );
  return row!.secret;
}

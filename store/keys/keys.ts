import { hash, randomBytes } from "node:crypto";
import { type Scope, type Tier, TIERS } from "../../contract/mod.ts";
import { KEY_PREFIX } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** The record of a key, which never includes the key itself. */
export interface KeyRecord {
  /** Public id, 16 hex characters: the start of the key's hash. In receipts and logs. */
  readonly id: string;
  readonly tenant: string;
  readonly tier: Tier;
  readonly scope: Scope;
  readonly principal: string;
  readonly mayApprove: boolean;
  readonly expiresAt: Date | null;
}

/** The properties of a key to issue. */
export type NewKey = Omit<KeyRecord, "id">;

/** Notification channel of the ids of keys that have changed, so that caches drop them. */
export const KEYS_CHANGED = "sealoop_keys";

const KEY_FORM = new RegExp(`^${KEY_PREFIX}_(${TIERS.join("|")})_[A-Za-z0-9_-]{43}$`);

/** Returns the SHA-256 of a key. A key has 256 random bits, so a fast hash is as safe as a slow one. */
export function hashKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Returns false for a text that can't be a key, so that no query is needed. */
export function isKeyShaped(text: string): boolean {
  return KEY_FORM.test(text);
}

/** The receipt of a change of a key, ready for the outbox. */
export interface KeyReceipt {
  readonly id: string;
  /** Canonical JSON. */
  readonly payload: string;
  readonly requestHash: Buffer;
  readonly evidence: readonly {
    readonly name: string;
    readonly salt: Buffer;
    readonly content: string;
  }[];
}

/**
 * Issues a key: stores its hash and requests its receipt, neither without the other. Makes the key's tenant where it is not
 * there.
 *
 * @param receiptOf returns the receipt, which has to say what the key may do
 * @returns the key, which is stored nowhere, and its record
 */
export async function issueKey(
  db: Db,
  { tenant, tier, scope, principal, mayApprove, expiresAt }: NewKey,
  receiptOf: (keyId: string) => KeyReceipt,
): Promise<{ key: string; record: KeyRecord }> {
  const { key, id, keyHash } = makeKey(tier);
  const receipt = receiptOf(id);
  await db.query("SELECT issue_key($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)", [
    id,
    keyHash,
    tenant,
    tier,
    scope,
    principal,
    mayApprove,
    expiresAt,
    receipt.id,
    receipt.payload,
    receipt.requestHash,
    receipt.evidence.map(({ name }) => name),
    receipt.evidence.map(({ salt }) => salt),
    receipt.evidence.map(({ content }) => content),
  ]);
  return { key, record: { id, tenant, tier, scope, principal, mayApprove, expiresAt } };
}

/** Makes a key that is stored nowhere, with its public id and its hash. */
export function makeKey(tier: Tier): { key: string; id: string; keyHash: Buffer } {
  const key = `${KEY_PREFIX}_${tier}_${randomBytes(32).toString("base64url")}`;
  const keyHash = hashKey(key);
  return { key, id: keyHash.toString("hex").slice(0, 16), keyHash };
}

/** Returns who holds or held a key, by its public id. */
export async function getPrincipal(db: Db, id: string): Promise<string | undefined> {
  const row = await db.first<{ principal: string }>(
    "SELECT principal FROM keys_by_id($1)",
    [[id]],
  );
  return row?.principal;
}

const FIND_KEYS = {
  name: "find_keys",
  text: "SELECT * FROM find_keys($1)",
};

/**
 * Returns the record of each of these hashes, in their order; undefined where the key is unknown or revoked. An expired
 * key is returned: the caller decides.
 */
export async function findKeys(
  db: Db,
  hashes: readonly Buffer[],
): Promise<(KeyRecord | undefined)[]> {
  const rows = await db.query(FIND_KEYS, [hashes]);
  const byHash = new Map(rows.map((row) => [row.key_hash.toString("hex"), fromRow(row)]));
  return hashes.map((hash) => byHash.get(hash.toString("hex")));
}

/** Returns the record of a key of any tenant by its public id, with the time of its issue; undefined where it is unknown or revoked. */
export async function findKeyById(
  db: Db,
  id: string,
): Promise<KeyRecord & { readonly createdAt: Date } | undefined> {
  const row = await db.first("SELECT * FROM keys_by_id($1) WHERE revoked_at IS NULL", [
    [id],
  ]);
  return row && { ...fromRow(row), createdAt: row.created_at };
}

/** Returns those of these keys of any tenants that are valid now, by their public ids. */
export async function findValidKeys(db: Db, ids: readonly string[]): Promise<KeyRecord[]> {
  const rows = await db.query(
    `SELECT * FROM keys_by_id($1)
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    [ids],
  );
  return rows.map(fromRow);
}

/** Returns the valid key of a person who has signed in by an identity provider, in a tenant, or undefined. */
export async function findKeyOfPerson(
  db: Db,
  { issuer, subject, tenant }: {
    readonly issuer: string;
    readonly subject: string;
    readonly tenant: string;
  },
): Promise<KeyRecord | undefined> {
  const row = await db.first("SELECT * FROM key_of_person($1, $2, $3)", [issuer, subject, tenant]);
  return row && fromRow(row);
}

/**
 * Revokes a key for good, requests the receipt, and notifies every process.
 *
 * @param id public id of the key
 * @returns false where no such key was valid
 */
export async function revokeKey(db: Db, id: string, receipt: KeyReceipt): Promise<boolean> {
  const row = await db.first<{ revoked: boolean }>(
    "SELECT revoke_key($1, $2, $3, $4) AS revoked",
    [id, receipt.id, receipt.payload, receipt.requestHash],
  );
  return row!.revoked;
}

/** Sets the time when a key expires, requests the receipt, and notifies every process. @returns false where no such key was valid */
export async function expireKey(
  db: Db,
  id: string,
  at: Date,
  receipt: KeyReceipt,
): Promise<boolean> {
  const row = await db.first<{ expired: boolean }>(
    "SELECT expire_key($1, $2, $3, $4, $5) AS expired",
    [id, at, receipt.id, receipt.payload, receipt.requestHash],
  );
  return row!.expired;
}

/** A key in the list of all keys. */
export interface KeyListing extends KeyRecord {
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** Null: never. Late by some seconds. */
  readonly lastUsedAt: Date | null;
}

/** Lists every key of any tenant that is or was valid, oldest first. */
export async function listKeys(db: Db): Promise<KeyListing[]> {
  const rows = await db.query("SELECT * FROM all_keys() ORDER BY created_at, id");
  return rows.map((row) => ({
    ...fromRow(row),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** Records when keys of any tenants were last used. @param uses key id → time of use */
export async function touchKeys(db: Db, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  await db.execute(
    "SELECT touch_keys($1, $2)",
    [[...uses.keys()], [...uses.values()].map((at) => at.toISOString())],
  );
}

/** A key that has not been used for long. */
export type UnusedKey = Pick<KeyRecord, "id" | "tier" | "mayApprove" | "expiresAt"> & {
  /** Days since its last use, or since it was issued. */
  readonly days: number;
};

/** Lists valid keys of any tenant that nobody has used for this many days, the longest unused first. */
export async function listUnusedKeys(db: Db, days: number): Promise<UnusedKey[]> {
  return await db.query<UnusedKey>(
    `SELECT id, tier, may_approve AS "mayApprove", expires_at AS "expiresAt",
       floor(extract(epoch FROM now() - coalesce(last_used_at, created_at)) / 86400)::int AS days
     FROM all_keys() WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
       AND coalesce(last_used_at, created_at) < now() - make_interval(days => $1)
     ORDER BY days DESC, id`,
    [days],
  );
}

/** Returns true where a valid admin key exists. */
export async function hasAdminKey(db: Db): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM all_keys()
     WHERE tier = 'admin' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) LIMIT 1`,
  );
  return row !== undefined;
}

function fromRow(row: Row): KeyRecord {
  return {
    id: row.id,
    tenant: row.tenant_id,
    tier: row.tier,
    scope: row.scope,
    principal: row.principal,
    mayApprove: row.may_approve,
    expiresAt: row.expires_at,
  };
}

import { hash, randomBytes } from "node:crypto";
import { type Scope, type Tier, TIERS } from "../contract/mod.ts";
import { KEY_PREFIX } from "../domain/mod.ts";
import type { Queryable } from "./connection.ts";

/** A key as it is kept: never the key itself. */
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

/** What an issuer says of a new key. */
export type NewKey = Omit<KeyRecord, "id">;

/** Notification channel on which a changed key's id is told, so that caches forget it. */
export const KEYS_CHANGED = "sealoop_keys";

const FORM = new RegExp(`^${KEY_PREFIX}_(${TIERS.join("|")})_[A-Za-z0-9_-]{43}$`);

/** SHA-256 of the key. A key has 256 random bits, so a plain hash is as good as a slow one. */
export function hashKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Whether the text has the form of a key at all; saves a query for what can't be one. */
export function isKeyShaped(text: string): boolean {
  return FORM.test(text);
}

/**
 * Makes a key and stores its hash.
 *
 * @returns the key, which is nowhere else from now on, and its record
 */
export async function issueKey(
  on: Queryable,
  { tenant, tier, scope, principal, mayApprove, expiresAt }: NewKey,
): Promise<{ key: string; record: KeyRecord }> {
  const key = `${KEY_PREFIX}_${tier}_${randomBytes(32).toString("base64url")}`;
  const keyHash = hashKey(key);
  const id = keyHash.toString("hex").slice(0, 16);
  await on("keys").insert({
    id,
    key_hash: keyHash,
    tenant,
    tier,
    scope,
    principal,
    may_approve: mayApprove,
    expires_at: expiresAt,
  });
  return { key, record: { id, tenant, tier, scope, principal, mayApprove, expiresAt } };
}

/** Who holds a key, or held it, by its public id. */
export async function getPrincipal(on: Queryable, id: string): Promise<string | undefined> {
  const row = await on("keys").where({ id }).first("principal");
  return row?.principal;
}

/** Tenant of a key, be that revoked, by its public id. */
export async function getTenant(on: Queryable, id: string): Promise<string | undefined> {
  const row = await on("keys").where({ id }).first("tenant");
  return row?.tenant;
}

/** The key's record, or undefined where it is unknown or revoked. An expired key is found: its reader decides. */
export async function findKey(on: Queryable, hash: Buffer): Promise<KeyRecord | undefined> {
  const row = await on("keys").where({ key_hash: hash }).whereNull("revoked_at").first();
  return row && recordOf(row);
}

/** The same by the key's public id, with when it was issued. */
export async function findKeyById(
  on: Queryable,
  id: string,
): Promise<KeyRecord & { readonly createdAt: Date } | undefined> {
  const row = await on("keys").where({ id }).whereNull("revoked_at").first();
  return row && { ...recordOf(row), createdAt: row.created_at };
}

/** Those of these keys that are valid now, by their public ids. */
export async function findValidKeys(on: Queryable, ids: readonly string[]): Promise<KeyRecord[]> {
  const rows = await on("keys").whereIn("id", ids).whereNull("revoked_at")
    .where((or) => or.whereNull("expires_at").orWhere("expires_at", ">", on.fn.now()));
  return rows.map(recordOf);
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function recordOf(row: any): KeyRecord {
  return {
    id: row.id,
    tenant: row.tenant,
    tier: row.tier,
    scope: row.scope,
    principal: row.principal,
    mayApprove: row.may_approve,
    expiresAt: row.expires_at,
  };
}

/**
 * Revokes a key for good, and tells every process.
 *
 * @param id public id of the key
 * @returns false where no such key was valid
 */
export async function revokeKey(on: Queryable, id: string): Promise<boolean> {
  const changed = await on("keys").where({ id }).whereNull("revoked_at")
    .update({ revoked_at: on.fn.now() });
  await on.raw("SELECT pg_notify(?, ?)", [KEYS_CHANGED, id]);
  return changed > 0;
}

/** Lets a key end at a time, and tells every process. @returns false where no such key was valid */
export async function expireKey(on: Queryable, id: string, at: Date): Promise<boolean> {
  const changed = await on("keys").where({ id }).whereNull("revoked_at").update({ expires_at: at });
  await on.raw("SELECT pg_notify(?, ?)", [KEYS_CHANGED, id]);
  return changed > 0;
}

/** A key as it is listed. */
export interface KeyListing extends KeyRecord {
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** Null: never; else true to some seconds. */
  readonly lastUsedAt: Date | null;
}

/** Every key that there is or was, oldest first. */
export async function listKeys(on: Queryable): Promise<KeyListing[]> {
  const rows = await on("keys").orderBy("created_at").orderBy("id");
  return rows.map((row) => ({
    ...recordOf(row),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** Writes when keys were last used. @param uses key id → time of use */
export async function touchKeys(on: Queryable, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  await on.raw(
    `UPDATE keys SET last_used_at = greatest(last_used_at, used.at)
     FROM unnest(?::text[], ?::timestamptz[]) AS used (id, at) WHERE keys.id = used.id`,
    [[...uses.keys()], [...uses.values()].map((at) => at.toISOString())],
  );
}

/** A key that has long not been used. */
export type UnusedKey = Pick<KeyRecord, "id" | "tier" | "mayApprove" | "expiresAt"> & {
  /** Days since its last use, or since it was issued. */
  readonly days: number;
};

/** Valid keys that nobody has used for so many days, the longest unused first. */
export async function listUnusedKeys(on: Queryable, days: number): Promise<UnusedKey[]> {
  const { rows } = await on.raw(
    `SELECT id, tier, may_approve, expires_at,
       floor(extract(epoch FROM now() - coalesce(last_used_at, created_at)) / 86400)::int AS days
     FROM keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
       AND coalesce(last_used_at, created_at) < now() - make_interval(days => ?)
     ORDER BY days DESC, id`,
    [days],
  );
  // deno-lint-ignore no-explicit-any -- a row as the driver gives it
  return rows.map((row: any) => ({
    id: row.id,
    tier: row.tier,
    mayApprove: row.may_approve,
    expiresAt: row.expires_at,
    days: row.days,
  }));
}

/** Whether any admin key is valid. */
export async function hasAdminKey(on: Queryable): Promise<boolean> {
  const row = await on("keys").where({ tier: "admin" }).whereNull("revoked_at")
    .where((or) => or.whereNull("expires_at").orWhere("expires_at", ">", on.fn.now())).first("id");
  return row !== undefined;
}

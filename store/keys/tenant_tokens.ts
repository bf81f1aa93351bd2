import { hash, randomBytes } from "node:crypto";
import { KEY_PREFIX } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A token by which machines of a tenant enrol. Its text is stored nowhere. */
export interface TenantToken {
  /** Public id, 16 hex: the start of the token's hash. */
  readonly id: string;
  readonly tenant: string;
  readonly expiresAt: Date;
}

const TOKEN_FORM = new RegExp(`^${KEY_PREFIX}_tenant_[A-Za-z0-9_-]{43}$`);
const hashToken = (token: string) => hash("sha256", token, "buffer");

/**
 * Issues a token of the tenant of `trx`; those before end at once, and so do the codes that were made with them.
 *
 * @returns the token, which is stored nowhere, and its record
 */
export async function replaceTenantToken(
  trx: Db,
  expiresAt: Date,
): Promise<{ readonly token: string; readonly record: TenantToken }> {
  const token = `${KEY_PREFIX}_tenant_${randomBytes(32).toString("base64url")}`;
  const tokenHash = hashToken(token);
  const id = tokenHash.toString("hex", 0, 8);
  await trx.execute("UPDATE tenant_tokens SET revoked_at = now() WHERE revoked_at IS NULL");
  await trx.execute(
    "INSERT INTO tenant_tokens (id, token_hash, expires_at) VALUES ($1, $2, $3)",
    [id, tokenHash, expiresAt],
  );
  return { token, record: { id, tenant: trx.tenant, expiresAt } };
}

/** Ends the tokens of the tenant of `trx`. @returns their ids */
export async function revokeTenantTokens(trx: Db): Promise<string[]> {
  const rows = await trx.query<{ id: string }>(
    `UPDATE tenant_tokens SET revoked_at = now()
     WHERE revoked_at IS NULL AND expires_at > now() RETURNING id`,
  );
  return rows.map(({ id }) => id);
}

/** Returns the record of a valid token of any tenant, or undefined. */
export async function findTenantToken(db: Db, token: string): Promise<TenantToken | undefined> {
  if (!TOKEN_FORM.test(token)) return undefined;
  const row = await db.first("SELECT * FROM find_tenant_token($1)", [hashToken(token)]);
  return row && toToken(row);
}

/** Returns the record of a valid token of any tenant by its id, or undefined. */
export async function findTenantTokenById(db: Db, id: string): Promise<TenantToken | undefined> {
  const row = await db.first("SELECT * FROM find_tenant_token_by_id($1)", [id]);
  return row && toToken(row);
}

/** Returns the valid token of the tenant of `db`, or undefined. */
export async function getTenantToken(db: Db): Promise<TenantToken | undefined> {
  const row = await db.first(
    "SELECT * FROM tenant_tokens WHERE revoked_at IS NULL AND expires_at > now()",
  );
  return row && toToken(row);
}

function toToken(row: Row): TenantToken {
  return { id: row.id, tenant: row.tenant_id, expiresAt: row.expires_at };
}

import type { GrantTerms, SignedGrant } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A standing grant. */
export interface GrantRecord {
  /** `GRN-` and 12 hex characters. */
  readonly id: string;
  readonly terms: GrantTerms;
  readonly signed: SignedGrant;
  readonly madeByKey: string;
  /** The approval of the others that it takes; null: it takes none. */
  readonly approvalId: string | null;
  readonly receiptId: string;
  readonly madeAt: Date;
  readonly revokedAt: Date | null;
  /** Principal. */
  readonly revokedBy: string | null;
  /** Number of uses so far. */
  readonly uses: number;
}

/** A grant to store. */
export type NewGrant = Omit<GrantRecord, "madeAt" | "revokedAt" | "revokedBy" | "uses">;

/** Stores a grant. */
export async function putGrant(
  trx: Db,
  { id, terms, signed, madeByKey, approvalId, receiptId }: NewGrant,
): Promise<void> {
  await trx.execute(
    `INSERT INTO grants (id, terms, signed, made_by_key, approval_id, receipt_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      id,
      JSON.stringify(terms),
      JSON.stringify(signed),
      madeByKey,
      approvalId,
      receiptId,
      terms.expires_at,
    ],
  );
}

const SELECT = `SELECT *, (SELECT count(*)::int FROM grant_uses u WHERE u.grant_id = g.id) AS uses
  FROM grants g`;

/** Returns a grant, or undefined. */
export async function getGrant(db: Db, id: string): Promise<GrantRecord | undefined> {
  const row = await db.first(`${SELECT} WHERE id = $1`, [id]);
  return row && fromRow(row);
}

/** Lists grants, newest first. */
export async function listGrants(db: Db, limit: number): Promise<GrantRecord[]> {
  return (await db.query(`${SELECT} ORDER BY made_at DESC, id LIMIT $1`, [limit])).map(fromRow);
}

/** Lists the grants that name an action, and that were not revoked and have not expired, the first to expire first. */
export async function listGrantsOfAction(db: Db, actionSha256: string): Promise<GrantRecord[]> {
  const rows = await db.query(
    `${SELECT} WHERE terms @> $1::jsonb AND revoked_at IS NULL AND expires_at > now()
     ORDER BY expires_at, id`,
    [JSON.stringify({ acts: [{ action_sha256: actionSha256 }] })],
  );
  return rows.map(fromRow);
}

/** Returns the grant that an act has used, or undefined. */
export async function findGrantOfAct(
  db: Db,
  act: string,
): Promise<{ readonly grantId: string; readonly number: number } | undefined> {
  return await db.first(
    `SELECT grant_id AS "grantId", number FROM grant_uses WHERE act = $1`,
    [act],
  );
}

/**
 * Counts a use of a grant by an act, which has used none before. Uses and the revocation of a grant wait for each other until
 * their transactions end, in whatever process.
 *
 * @returns the number of the use; undefined: it is used up, or was revoked, or has expired
 */
export async function takeGrantUse(
  trx: Db,
  { id, terms: { max_uses } }: Pick<GrantRecord, "id" | "terms">,
  act: string,
): Promise<number | undefined> {
  await waitForUses(trx, id);
  const row = await trx.first<{ number: number }>(
    `INSERT INTO grant_uses (grant_id, number, act)
     SELECT g.id, 1 + (SELECT count(*) FROM grant_uses u WHERE u.grant_id = g.id), $2 FROM grants g
     WHERE g.id = $1 AND g.revoked_at IS NULL AND g.expires_at > now()
       AND (SELECT count(*) FROM grant_uses u WHERE u.grant_id = g.id) < $3
     RETURNING number`,
    [id, act, max_uses],
  );
  return row?.number;
}

/** Revokes a grant for good. Once the transaction has ended no act uses it. @returns false where it was revoked before */
export async function revokeGrant(trx: Db, id: string, by: string): Promise<boolean> {
  await waitForUses(trx, id);
  return await trx.execute(
    "UPDATE grants SET revoked_at = now(), revoked_by = $2 WHERE id = $1 AND revoked_at IS NULL",
    [id, by],
  ) > 0;
}

/** First half of the advisory locks of grants. */
const LOCK = 736_563;

async function waitForUses(trx: Db, id: string): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK, id]);
}

function fromRow(row: Row): GrantRecord {
  return {
    id: row.id,
    terms: row.terms,
    signed: row.signed,
    madeByKey: row.made_by_key,
    approvalId: row.approval_id,
    receiptId: row.receipt_id,
    madeAt: row.made_at,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
    uses: row.uses,
  };
}

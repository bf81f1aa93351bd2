import { randomBytes } from "node:crypto";
import type { Passkey, PublicJwk } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A person's passkey. */
export interface PasskeyRecord extends Passkey {
  /** `PKY-` and 12 hex characters. */
  readonly id: string;
  readonly tenant: string;
  readonly principal: string;
  /** As its person calls it. */
  readonly name: string;
  /** As its authenticator counts; 0: it does not. */
  readonly uses: number;
  readonly enrolledAt: Date;
  readonly lastUsedAt: Date | null;
  readonly receiptId: string;
}

/** A passkey to store. */
type NewPasskey = Omit<PasskeyRecord, "tenant" | "enrolledAt" | "lastUsedAt">;

/** Stores a passkey. @throws {Error} its credential is stored already */
export async function putPasskey(trx: Db, passkey: NewPasskey): Promise<void> {
  await trx.execute(
    `INSERT INTO passkeys (id, principal, name, credential_id, public_key, uses, receipt_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      passkey.id,
      passkey.principal,
      passkey.name,
      passkey.credential_id,
      JSON.stringify(passkey.public_key),
      passkey.uses,
      passkey.receiptId,
    ],
  );
}

/** Lists a person's valid passkeys, oldest first. */
export async function listPasskeys(db: Db, principal: string): Promise<PasskeyRecord[]> {
  const rows = await db.query(
    "SELECT * FROM passkeys WHERE principal = $1 AND revoked_at IS NULL ORDER BY enrolled_at, id",
    [principal],
  );
  return rows.map(fromRow);
}

/** Returns a valid passkey of any tenant by its credential, or undefined. */
export async function findPasskey(
  db: Db,
  credentialId: string,
): Promise<PasskeyRecord | undefined> {
  const row = await db.first("SELECT * FROM find_passkey($1)", [credentialId]);
  return row && fromRow(row);
}

/** Returns whether a person has or had a passkey. */
export async function hadPasskey(db: Db, principal: string): Promise<boolean> {
  const row = await db.first("SELECT FROM passkeys WHERE principal = $1 LIMIT 1", [principal]);
  return row !== undefined;
}

/**
 * Notes a use of a passkey of any tenant. Two uses at once can't have the same count.
 *
 * @param uses as the authenticator counts
 * @returns false: the count has not grown, so that somebody has a copy, or the passkey was revoked
 */
export async function notePasskeyUse(
  trx: Db,
  credentialId: string,
  uses: number,
): Promise<boolean> {
  const row = await trx.first("SELECT note_passkey_use($1, $2)", [credentialId, uses]);
  return row !== undefined;
}

/** Revokes a passkey for good. @returns false where no such one was valid */
export async function revokePasskey(trx: Db, id: string, principal: string): Promise<boolean> {
  const row = await trx.first(
    `UPDATE passkeys SET revoked_at = now()
     WHERE id = $1 AND principal = $2 AND revoked_at IS NULL RETURNING id`,
    [id, principal],
  );
  return row !== undefined;
}

/** A statement that a session was given to sign. */
interface PasskeyChallenge {
  /** 32 hex characters. */
  readonly id: string;
  readonly sessionId: string;
  /** Its purpose: an approval's id, or another one. */
  readonly about: string;
  /** Base64url. */
  readonly challenge: string;
  /** Statement that it is the hash of; null: it is random. */
  readonly statement: Readonly<Record<string, unknown>> | null;
}

/** Returns the id of a new challenge. */
export function newChallengeId(): string {
  return randomBytes(16).toString("hex");
}

/** Stores a challenge. */
export async function putChallenge(
  db: Db,
  { id, sessionId, about, challenge, statement }: PasskeyChallenge,
  seconds: number,
): Promise<void> {
  await db.execute(
    `INSERT INTO passkey_challenges (id, session_id, about, challenge, statement, expires_at)
     VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    [id, sessionId, about, challenge, statement && JSON.stringify(statement), seconds],
  );
}

/** Returns a challenge that a session can still answer, or undefined. */
export async function getChallenge(
  db: Db,
  id: string,
  sessionId: string,
): Promise<PasskeyChallenge | undefined> {
  return await db.first<PasskeyChallenge>(
    `SELECT id, session_id AS "sessionId", about, challenge, statement FROM passkey_challenges
     WHERE id = $1 AND session_id = $2 AND expires_at > now()`,
    [id, sessionId],
  );
}

/** Takes a challenge, which nobody can take again. @returns undefined: it was answered, has expired, or is another session's */
export async function takeChallenge(
  trx: Db,
  id: string,
  sessionId: string,
): Promise<PasskeyChallenge | undefined> {
  return await trx.first<PasskeyChallenge>(
    `DELETE FROM passkey_challenges WHERE id = $1 AND session_id = $2 AND expires_at > now()
     RETURNING id, session_id AS "sessionId", about, challenge, statement`,
    [id, sessionId],
  );
}

function fromRow(row: Row): PasskeyRecord {
  return {
    id: row.id,
    tenant: row.tenant_id,
    principal: row.principal,
    name: row.name,
    credential_id: row.credential_id,
    public_key: row.public_key as PublicJwk,
    uses: Number(row.uses),
    enrolledAt: row.enrolled_at,
    lastUsedAt: row.last_used_at,
    receiptId: row.receipt_id,
  };
}

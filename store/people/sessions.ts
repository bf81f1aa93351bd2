import type { Db } from "../connection.ts";
import { KEYS_CHANGED } from "../keys/mod.ts";
import { hashToken, newForm } from "./_tokens.ts";

/** A secret that is stored as its hash alone. */
interface Secret {
  readonly token: string;
  /** 16 hex characters: the start of the hash. */
  readonly id: string;
}

/** A person who has signed in. */
interface Session {
  readonly id: string;
  readonly tenant: string;
  readonly keyId: string;
  readonly expiresAt: Date;
  /** True: its person may enrol a passkey without another one, as the operator has said. */
  readonly recovers: boolean;
}

/** A link that was taken. */
type TakenLink = Pick<Session, "keyId" | "recovers">;

const LINK = newForm("link");
const SESSION = newForm("session");

/** Makes a link that signs the holder of a key in, once. @returns its secret, which is stored nowhere */
export async function putSignInLink(db: Db, link: TakenLink, seconds: number): Promise<string> {
  const { token } = await putSecret(db, "sign_in_links", LINK.make(), link, seconds);
  return token;
}

/** Takes a link of any tenant, which nobody can take again. @returns undefined: it is no valid link */
export async function takeSignInLink(db: Db, token: string): Promise<TakenLink | undefined> {
  if (!LINK.fits(token)) return undefined;
  return await db.first<TakenLink>(
    `SELECT key_id AS "keyId", recovers FROM take_sign_in_link($1)`,
    [hashToken(token)],
  );
}

/**
 * Opens a session of a key.
 *
 * @param idToken of the identity provider that the person has signed in by
 * @returns its secret, which is stored nowhere, and its id
 */
export async function putSession(
  trx: Db,
  { idToken, ...link }: TakenLink & { readonly idToken?: string },
  seconds: number,
): Promise<Secret> {
  const secret = await putSecret(trx, "sessions", SESSION.make(), link, seconds);
  if (idToken !== undefined) {
    await trx.execute("UPDATE sessions SET id_token = $2 WHERE id = $1", [secret.id, idToken]);
  }
  return secret;
}

/** Returns the ID token of a session that has not ended; undefined: its person has signed in by a link. */
export async function findIdToken(db: Db, id: string): Promise<string | undefined> {
  const row = await db.first<{ idToken: string | null }>(
    `SELECT id_token AS "idToken" FROM sessions WHERE id = $1 AND ended_at IS NULL`,
    [id],
  );
  return row?.idToken ?? undefined;
}

async function putSecret(
  db: Db,
  table: "sign_in_links" | "sessions",
  token: string,
  { keyId, recovers }: TakenLink,
  seconds: number,
): Promise<Secret> {
  const tokenHash = hashToken(token);
  const id = tokenHash.toString("hex", 0, 8);
  await db.execute(
    `INSERT INTO ${table} (id, token_hash, key_id, recovers, expires_at)
     VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
    [id, tokenHash, keyId, recovers, seconds],
  );
  return { token, id };
}

/** Returns a session of any tenant that has not ended; its key may have. */
export async function findSession(db: Db, token: string): Promise<Session | undefined> {
  if (!SESSION.fits(token)) return undefined;
  return await db.first<Session>(
    `SELECT id, tenant_id AS tenant, key_id AS "keyId", expires_at AS "expiresAt", recovers FROM find_session($1)`,
    [hashToken(token)],
  );
}

/** Returns whether a session has not ended; its key may have. */
export async function isSessionOpen(db: Db, id: string): Promise<boolean> {
  const row = await db.first(
    "SELECT FROM sessions WHERE id = $1 AND ended_at IS NULL AND expires_at > now()",
    [id],
  );
  return row !== undefined;
}

/** Ends a session, and notifies every process as after a change of its key. */
export async function endSession(trx: Db, id: string): Promise<void> {
  const ended = await trx.execute(
    "UPDATE sessions SET ended_at = now(), id_token = NULL WHERE id = $1 AND ended_at IS NULL",
    [id],
  );
  if (ended > 0) await trx.query("SELECT pg_notify($1, $2)", [KEYS_CHANGED, id]);
}

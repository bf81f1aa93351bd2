import type { Db } from "../connection.ts";
import { normalizeEmail } from "../email.ts";
import { keyedHashWithin } from "../keyed_hash.ts";

/** The reason why an address must not be mailed. */
export type SuppressionReason = "opted_out" | "erased";

/** Permission to mail an address. */
export interface MailPermission {
  readonly allowed: boolean;
  /** Why not. `invalid`: it is no address. */
  readonly reason?: SuppressionReason | "invalid";
}

/**
 * Returns whether a contact's address may be mailed: it was neither opted out nor erased. Holds for addresses that
 * belong to no contact, too.
 */
export async function mayMail(db: Db, email: string): Promise<MailPermission> {
  const address = normalizeEmail(email);
  if (!address) return { allowed: false, reason: "invalid" };
  const reason = await findSuppression(db, address.key);
  if (reason) return { allowed: false, reason };
  const opted = await db.first(
    "SELECT FROM contacts WHERE email_key = $1 AND consent = 'opt_out'",
    [address.key],
  );
  return opted ? { allowed: false, reason: "opted_out" } : { allowed: true };
}

/** First half of the advisory locks of addresses; any number that nobody else of this database uses. */
const LOCK = 736_563;

/** Keeps others from storing mail to an address, and from erasing it, until the transaction ends. */
export async function lockAddress(trx: Db, emailKey: string): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK, emailKey]);
}

/** Returns why an address must not be mailed, or undefined. @param emailKey of its normal form */
export async function findSuppression(
  db: Db,
  emailKey: string,
): Promise<SuppressionReason | undefined> {
  const row = await db.first<{ reason: SuppressionReason }>(
    "SELECT reason FROM suppressions WHERE hash = $1",
    [await suppressionHash(db, emailKey)],
  );
  return row?.reason;
}

/** Remembers that an address must not be mailed. @returns false if that was known */
export async function suppressEmail(
  db: Db,
  emailKey: string,
  reason: SuppressionReason,
): Promise<boolean> {
  const added = await db.execute(
    `INSERT INTO suppressions (hash, reason) VALUES ($1, $2) ON CONFLICT (tenant_id, hash) DO NOTHING`,
    [await suppressionHash(db, emailKey), reason],
  );
  return added > 0;
}

/** Allows an address to be mailed again. */
export async function liftSuppression(db: Db, emailKey: string): Promise<void> {
  await db.execute("DELETE FROM suppressions WHERE hash = $1", [
    await suppressionHash(db, emailKey),
  ]);
}

/** Addresses can be guessed: whoever lacks the secret can't test a guess at one. */
async function suppressionHash(db: Db, emailKey: string): Promise<Buffer> {
  return await keyedHashWithin(db, "suppressions", db.tenant, emailKey);
}

import type { Db } from "../connection.ts";
import { findValidKeys, type KeyReceipt, type KeyRecord } from "../keys/mod.ts";

/** Who somebody is at an identity provider. */
export interface ProviderIdentity {
  readonly issuer: string;
  /** Their id there: of one person for ever. */
  readonly subject: string;
  readonly groups: readonly string[];
}

/** A person who has signed in by an identity provider, and their key in a tenant. */
export interface PersonRecord extends ProviderIdentity {
  readonly tenant: string;
  readonly keyId: string;
}

/** A person's key that is to be made. */
export type PersonKey = Pick<KeyRecord, "tier" | "scope" | "mayApprove"> & {
  /** False: the person may not sign in, nor act. */
  readonly valid: boolean;
};

const ALL =
  `SELECT tenant_id AS tenant, key_id AS "keyId", issuer, subject, groups FROM all_people()`;

/** Lists the people of all tenants. */
export async function listPeople(db: Db): Promise<PersonRecord[]> {
  return await db.query<PersonRecord>(`${ALL} ORDER BY tenant_id, key_id`);
}

/** Returns whether a key is that of somebody who signs in by an identity provider. */
export async function isKeyOfPerson(db: Db, keyId: string): Promise<boolean> {
  return await db.first(`${ALL} WHERE key_id = $1`, [keyId]) !== undefined;
}

/** Notes the groups of a person, and returns what they are in each tenant. */
export async function noteIdentity(
  trx: Db,
  { issuer, subject, groups }: ProviderIdentity,
): Promise<PersonRecord[]> {
  await trx.query("SELECT note_sign_in($1, $2, $3)", [issuer, subject, groups]);
  return await trx.query<PersonRecord>(`${ALL} WHERE issuer = $1 AND subject = $2`, [
    issuer,
    subject,
  ]);
}

/** Stores a person of any tenant with a key that was issued in the same transaction. @throws {Error} they are stored already */
export async function putPerson(
  trx: Db,
  { tenant, keyId, issuer, subject, groups }: PersonRecord,
): Promise<void> {
  await trx.query("SELECT add_person($1, $2, $3, $4, $5)", [
    tenant,
    keyId,
    issuer,
    subject,
    groups,
  ]);
}

/** Returns what the key of a person is now; undefined: it was revoked. */
export async function getPersonKey(db: Db, keyId: string): Promise<PersonKey | undefined> {
  const row = await db.first<Omit<PersonKey, "valid">>(
    `SELECT tier, scope, may_approve AS "mayApprove" FROM keys_by_id($1) WHERE revoked_at IS NULL`,
    [[keyId]],
  );
  return row && { ...row, valid: (await findValidKeys(db, [keyId])).length > 0 };
}

/**
 * Changes the key of a person of any tenant, requests the receipt, and notifies every process. The database refuses more
 * than the people file in force gives.
 *
 * @returns false where the key was revoked
 */
export async function changePersonKey(
  trx: Db,
  keyId: string,
  { tier, scope, mayApprove, valid }: PersonKey,
  { id, payload, requestHash }: KeyReceipt,
): Promise<boolean> {
  const row = await trx.first<{ changed: boolean }>(
    "SELECT change_person_key($1, $2, $3, $4, $5, $6, $7, $8) AS changed",
    [keyId, tier, scope, mayApprove, valid, id, payload, requestHash],
  );
  return row!.changed;
}

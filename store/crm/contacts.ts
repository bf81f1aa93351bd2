import { randomBytes } from "node:crypto";
import type { Contact, ContactFields } from "../../contract/records/mod.ts";
import type { Db, Row } from "../connection.ts";
import { normalizeEmail } from "../email.ts";

/** Consent as it is stored with a change. */
export type NewConsent = Pick<Contact["consent"], "email" | "basis">;

/** Returns a contact by id, or undefined. */
export async function getContact(db: Db, id: string): Promise<Contact | undefined> {
  const row = await db.first("SELECT * FROM contacts WHERE id = $1", [id]);
  return row && toContact(row);
}

/** Returns the contact with an e-mail address, however that is spelled, or undefined. */
export async function findContactByEmail(db: Db, email: string): Promise<Contact | undefined> {
  const address = normalizeEmail(email);
  if (!address) return undefined;
  const row = await db.first("SELECT * FROM contacts WHERE email_key = $1", [address.key]);
  return row && toContact(row);
}

/** Returns a contact and locks it until the transaction ends, or undefined. */
export async function lockContact(trx: Db, id: string): Promise<Contact | undefined> {
  const row = await trx.first("SELECT * FROM contacts WHERE id = $1 FOR UPDATE", [id]);
  return row && toContact(row);
}

/** Adds a contact. @returns its id, or undefined where the tenant has one with this e-mail address */
export async function addContact(
  trx: Db,
  { name, email, phone, company, tags = [], source, owner }: ContactFields,
  consent: NewConsent,
): Promise<string | undefined> {
  const address = normalizeEmail(email)!;
  const row = await trx.first<{ id: string }>(
    `INSERT INTO contacts (id, name, email, email_key, phone, company, tags, source, owner, consent, consent_basis, consent_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, CASE WHEN $10 <> 'none' THEN now() END)
     ON CONFLICT (tenant_id, email_key) DO NOTHING RETURNING id`,
    [
      `CON-${randomBytes(6).toString("hex")}`,
      name,
      address.email,
      address.key,
      phone,
      company,
      tags,
      source,
      owner,
      consent.email,
      consent.basis,
    ],
  );
  return row?.id;
}

/** Writes the fields of a contact, which the caller has locked. @throws unique violation: the address is another's */
export async function updateContact(
  trx: Db,
  id: string,
  { name, email, phone, company, tags = [], source, owner }: ContactFields,
): Promise<void> {
  const address = normalizeEmail(email)!;
  await trx.execute(
    `UPDATE contacts SET name = $2, email = $3, email_key = $4, phone = $5, company = $6, tags = $7, source = $8,
       owner = $9, version = version + 1 WHERE id = $1`,
    [id, name, address.email, address.key, phone, company, tags, source, owner],
  );
}

/** Writes the consent of a contact. */
export async function setConsent(
  trx: Db,
  id: string,
  { email, basis }: NewConsent,
): Promise<void> {
  await trx.execute(
    `UPDATE contacts SET consent = $2, consent_basis = $3, consent_at = now(), version = version + 1
     WHERE id = $1`,
    [id, email, basis],
  );
}

/** Selects a page of contacts. */
export interface ContactPage {
  readonly limit: number;
  /** Contacts older than this one. */
  readonly before?: string | undefined;
}

/** Returns contacts, newest first, and the number of all. */
export async function listContacts(
  db: Db,
  { limit, before }: ContactPage,
): Promise<{ readonly total: number; readonly contacts: Contact[] }> {
  const [count, rows] = await Promise.all([
    db.first<{ total: number }>("SELECT count(*)::int AS total FROM contacts"),
    db.query(
      `SELECT * FROM contacts
       WHERE $2::text IS NULL OR (created_at, id) < (SELECT created_at, id FROM contacts WHERE id = $2)
       ORDER BY created_at DESC, id DESC LIMIT $1`,
      [limit, before],
    ),
  ]);
  return { total: count!.total, contacts: rows.map(toContact) };
}

function toContact(row: Row): Contact {
  return {
    contact_id: row.id,
    name: row.name,
    email: row.email,
    phone: row.phone,
    company: row.company,
    tags: row.tags,
    source: row.source,
    consent: {
      email: row.consent,
      at: row.consent_at?.toISOString() ?? null,
      basis: row.consent_basis,
    },
    owner: row.owner,
    created_at: row.created_at.toISOString(),
    version: row.version,
  };
}

/** Changes of contacts. Each is one transaction with its activity and its receipt. */
import { unknownRecord } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { type Contact, ContactFields } from "../../contract/records/mod.ts";
import { optOut, recordChange } from "./records/mod.ts";
import type { Context } from "../../calls/mod.ts";
import { type Db, normalizeEmail } from "../../store/mod.ts";
import {
  addContact,
  findContactByEmail,
  getContact,
  lockContact,
  setConsent,
  updateContact,
} from "../../store/crm/mod.ts";
import { findSuppression, liftSuppression, suppressEmail } from "../../store/mail/mod.ts";

/** Consent as a caller states it. */
export interface StatedConsent {
  readonly email: "opt_in" | "opt_out";
  readonly basis: string;
}

/** The one who makes a change. */
export interface Author {
  readonly actor: string;
  readonly action: string;
  /** True where a person decides, whose word alone lets an address be mailed again. */
  readonly isPerson: boolean;
}

/** Returns the author of a call. */
export function authorOf({ caller, door }: Context, action: string): Author {
  return {
    actor: `key:${caller.keyId}`,
    action,
    isPerson: door === "rest" && caller.mayApprove,
  };
}

const FIELDS = ContactFields.keyof().options;

/** Returns a contact. @throws {Problem} `NotFound` */
export async function requireContact(db: Db, id: string): Promise<Contact> {
  const contact = await getContact(db, id);
  if (contact) return contact;
  throw await noContact(db, id);
}

const noContact = (db: Db, id: string) =>
  unknownRecord(db, "contact", id, "GET /api/contacts lists them");

/** Returns the conflict with the contact that has the address already. */
export function duplicateContact({ contact_id }: Contact): Problem {
  const detail = `${contact_id} has this e-mail address; change that one` +
    ', or send "on_duplicate": "merge" to add what it lacks';
  return new Problem("Conflict", detail, { body: { detail, contact_id } });
}

/** Adds a contact and seals that, or returns undefined where the tenant has one with its address. */
export async function addNewContact(
  trx: Db,
  fields: ContactFields,
  stated: StatedConsent | undefined,
  author: Author,
): Promise<string | undefined> {
  const contact = await insertContact(trx, fields, stated, author);
  if (contact === undefined) return undefined;
  await recordChange(trx, {
    ...author,
    kind: "contact.created",
    contactId: contact.contact_id,
    summary: "Created the contact",
    details: { consent: contact.consent.email },
    evidence: { contact },
  });
  return contact.contact_id;
}

/** Adds a contact without its receipt, or returns undefined where the tenant has one with its address. */
export async function insertContact(
  trx: Db,
  fields: ContactFields,
  stated: StatedConsent | undefined,
  author: Author,
): Promise<Contact | undefined> {
  const { key } = normalizeEmail(fields.email)!;
  const suppression = await findSuppression(trx, key);
  const isLifted = suppression !== undefined && stated?.email === "opt_in" && author.isPerson;
  const consent = suppression !== undefined && !isLifted
    ? { email: "opt_out" as const, basis: `suppressed: ${suppression}` }
    : stated ?? { email: "none" as const, basis: null };
  const id = await addContact(trx, fields, consent);
  if (id === undefined) return undefined;
  if (isLifted) await liftSuppression(trx, key);
  if (stated?.email === "opt_out") await suppressEmail(trx, key, "opted_out");
  return (await getContact(trx, id))!;
}

/**
 * Adds to a contact what it lacks: fields that are empty, tags, and consent. What it has stays, and so does an opt-out.
 *
 * @returns its id
 */
export async function mergeContact(
  trx: Db,
  fields: ContactFields,
  stated: StatedConsent | undefined,
  author: Author,
): Promise<string> {
  const known = await findContactByEmail(trx, fields.email);
  const before = known && await lockContact(trx, known.contact_id);
  if (!before) throw new Problem("Conflict", "The contact was erased meanwhile; try again");
  const filled = FIELDS.map((field) => [field, before[field] ?? fields[field]]);
  const merged: ContactFields = {
    ...before,
    ...Object.fromEntries(filled),
    tags: [...new Set([...before.tags, ...fields.tags ?? []])],
  };
  await writeChanges(trx, before, merged, author, "contact.merged");
  if (stated) await changeConsent(trx, before, stated, author); // an agent's opt-in lifts no opt-out
  return before.contact_id;
}

/** Changes the fields that are given. @throws {Problem} `NotFound`, `Conflict` */
export async function changeContact(
  trx: Db,
  id: string,
  { version, consent, ...fields }: Partial<ContactFields> & {
    readonly version?: number | undefined;
    readonly consent?: StatedConsent | undefined;
  },
  author: Author,
): Promise<void> {
  const before = await lockContact(trx, id);
  if (!before) throw await noContact(trx, id);
  requireVersion(id, before.version, version);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const after: ContactFields = { ...before, ...Object.fromEntries(given) };
  const holder = await findContactByEmail(trx, after.email);
  if (holder && holder.contact_id !== id) throw duplicateContact(holder);
  await writeChanges(trx, before, after, author, "contact.updated");
  const current = (await getContact(trx, id))!;
  const suppression = await findSuppression(trx, normalizeEmail(after.email)!.key);
  const isOtherAddress = normalizeEmail(before.email)!.key !== normalizeEmail(after.email)!.key;
  if (suppression && consent?.email !== "opt_in") {
    await optOut(trx, id, { ...author, basis: `suppressed: ${suppression}` });
  } else if (!consent && isOtherAddress && current.consent.email === "opt_in") {
    await endConsent(trx, id, author);
  } else if (consent && !await changeConsent(trx, current, consent, author)) {
    throw new Problem(
      "Conflict",
      `Cannot opt ${id} in: its address was opted out or erased; a person whose key may approve can, over REST, by ` +
        'POST /api/contacts with "on_duplicate": "merge" and the new consent',
    );
  }
}

/** @throws {Problem} `Conflict`: the record was changed meanwhile */
export function requireVersion(id: string, version: number, expected: number | undefined): void {
  if (expected === undefined || expected === version) return;
  const detail = `Cannot change ${id}: it is at version ${version} by now, and you have read ` +
    `version ${expected}; read it again`;
  throw new Problem("Conflict", detail, { body: { detail, version } });
}

async function writeChanges(
  trx: Db,
  before: Contact,
  after: ContactFields,
  author: Author,
  kind: "contact.updated" | "contact.merged",
): Promise<void> {
  const changed = FIELDS.filter((field) =>
    JSON.stringify(before[field]) !== JSON.stringify(after[field] ?? null)
  );
  if (changed.length === 0) return;
  await updateContact(trx, before.contact_id, after);
  await recordChange(trx, {
    ...author,
    kind,
    contactId: before.contact_id,
    summary: `${kind === "contact.merged" ? "Merged" : "Changed"} ${changed.join(", ")}`,
    details: { fields: changed },
    evidence: Object.fromEntries(
      changed.map((field) => [field, { before: before[field], after: after[field] ?? null }]),
    ),
  });
}

/** Ends a consent that was given for another address. */
async function endConsent(trx: Db, id: string, author: Author): Promise<void> {
  await setConsent(trx, id, { email: "none", basis: "given for another address" });
  await recordChange(trx, {
    ...author,
    kind: "contact.consent",
    contactId: id,
    summary: "Consent ended, as the address was changed",
    details: { consent: "none" },
    evidence: {},
  });
}

/** @returns false if nothing was changed, as only a person lets an address be mailed again */
async function changeConsent(
  trx: Db,
  { contact_id, email, consent }: Contact,
  { email: state, basis }: StatedConsent,
  author: Author,
): Promise<boolean> {
  if (state === "opt_out") {
    await optOut(trx, contact_id, { ...author, basis });
    return true;
  }
  const { key } = normalizeEmail(email)!;
  if (consent.email === "opt_out" || await findSuppression(trx, key)) {
    if (!author.isPerson) return false;
    await liftSuppression(trx, key);
  }
  if (consent.email === "opt_in" && consent.basis === basis) return true;
  await setConsent(trx, contact_id, { email: state, basis });
  await recordChange(trx, {
    ...author,
    kind: "contact.consent",
    contactId: contact_id,
    summary: "Opted in to e-mail",
    details: { consent: state },
    evidence: { basis },
  });
  return true;
}

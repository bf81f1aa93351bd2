import { domainToUnicode } from "node:url";
import type { Contact } from "../../../contract/records/mod.ts";
import { requestSeal } from "../../../ledger/mod.ts";
import { type Db, normalizeEmail } from "../../../store/mod.ts";
import {
  addActivity,
  type ErasedRows,
  erasePerson,
  findContactByEmail,
  getContact,
  listFormerValues,
  listRecordings,
  listWaitingApprovals,
  listWaitingArticles,
  listWaitingMails,
  listWaitingMedia,
  type Person,
} from "../../../store/crm/mod.ts";
import { lockAddress, suppressEmail } from "../../../store/mail/mod.ts";

/** Result of erasing a contact. */
export interface Erasure {
  /** Null: no contact has the address. */
  readonly contactId: string | null;
  /** Rows by their tables. */
  readonly rows: ErasedRows;
  /** Paths below the inbox folder, and addresses, of recordings that name it. They stay where they are. */
  readonly recordings: readonly string[];
  readonly receiptId: string;
}

/** A contact can't be erased at the moment. */
export class ErasureRefused extends Error {
  override readonly name = "ErasureRefused";
}

/**
 * Erases a contact of a tenant, wherever its data rest, and has that sealed. Its address stays suppressed, by an HMAC.
 * Must run in a transaction: all of it is erased, or nothing.
 *
 * @param named id of the contact, or an e-mail address, which need not be a contact's
 * @throws {ErasureRefused} there is no such contact, or something waits or is made with its data
 */
export async function eraseContact(trx: Db, named: string, actor: string): Promise<Erasure> {
  const person = await findPerson(trx, named);
  if (!person) throw new ErasureRefused(`There is no contact ${named}`);
  const keys = [...new Set(person.emails.flatMap((email) => normalizeEmail(email)?.key ?? []))];
  for (const key of keys.sort()) await lockAddress(trx, key);
  const waiting = await listWaitingApprovals(trx, person);
  if (waiting.length > 0) {
    const [first] = waiting;
    throw new ErasureRefused(
      `Cannot erase ${named}: ${waiting.join(", ")} would run with its data, or runs now; ` +
        `deny what waits (npm run approvals -- deny ${first}), and try again`,
    );
  }
  const mails = await listWaitingMails(trx, person);
  if (mails.length > 0) {
    throw new ErasureRefused(
      `Cannot erase ${named}: ${mails.join(", ")} is about to be sent; try again when it has ended`,
    );
  }
  const articles = await listWaitingArticles(trx, person);
  if (articles.length > 0) {
    throw new ErasureRefused(
      `Cannot erase ${named}: ${
        articles.join(", ")
      } names it, and is being written or deployed, or waits for people; try again when that has ended`,
    );
  }
  const media = await listWaitingMedia(trx, person);
  if (media.length > 0) {
    throw new ErasureRefused(
      `Cannot erase ${named}: ${
        media.join(", ")
      } is being made, and names it or may name it; try again when that has ended`,
    );
  }
  const recordings = await listRecordings(trx, person);
  const rows = await erasePerson(trx, person);
  for (const key of keys) await suppressEmail(trx, key, "erased");
  const { contactId } = person;
  const { id: receiptId } = await requestSeal(trx, {
    category: "contact_erased",
    actor,
    subject: contactId ?? "address",
    action: "contacts.erase",
    outcome: "erased",
    details: { rows },
  });
  if (contactId !== null) {
    const summary = "Erased the contact";
    await addActivity(trx, { kind: "contact.erased", contactId, actor, summary, receiptId });
  }
  return { contactId, rows, recordings, receiptId };
}

/** Returns the contact with an id or an e-mail address, or undefined. */
export async function findContact(db: Db, named: string): Promise<Contact | undefined> {
  return normalizeEmail(named) ? await findContactByEmail(db, named) : await getContact(db, named);
}

/** Returns everything by which a contact was ever known, or undefined where there is none. */
async function findPerson(db: Db, named: string): Promise<Person | undefined> {
  const contact = await findContact(db, named);
  if (!contact) {
    return normalizeEmail(named) &&
      { contactId: null, emails: spellingsOf(named), phones: [], names: [] };
  }
  const former = await listFormerValues(db, contact.contact_id);
  const valuesOf = (field: "name" | "email" | "phone") => [
    ...new Set([
      ...contact[field] === null ? [] : [contact[field]],
      ...former.filter((one) => one.field === field).map(({ value }) => value),
    ]),
  ];
  return {
    contactId: contact.contact_id,
    emails: [...new Set(valuesOf("email").flatMap(spellingsOf))],
    phones: valuesOf("phone"),
    names: valuesOf("name"),
  };
}

/** Returns an address in its normal form, and with its domain in Unicode. */
function spellingsOf(text: string): string[] {
  const { email } = normalizeEmail(text)!;
  const at = email.lastIndexOf("@") + 1;
  return [...new Set([email, email.slice(0, at) + domainToUnicode(email.slice(at))])];
}

import { type Db, normalizeEmail } from "../../../store/mod.ts";
import { lockContact, setConsent } from "../../../store/crm/mod.ts";
import { recordChange } from "./activities.ts";
import { findSuppression } from "../../../store/mail/mod.ts";

/** Way in which a contact opted in by itself. */
export interface OptIn {
  /** Normal form of the address that the person has shown to hold. */
  readonly emailKey: string;
  readonly basis: string;
  readonly actor: string;
  /** Name of the operation or workflow. */
  readonly action: string;
  /** Public subject of the receipt, in place of the contact. */
  readonly subject: string;
}

/**
 * Opts a contact in to e-mail, who never said anything before. It lifts no opt-out. Must run in a transaction; the change is
 * sealed with it.
 *
 * @returns whether the contact is opted in now
 */
export async function optIn(
  trx: Db,
  contactId: string,
  { emailKey, basis, actor, action, subject }: OptIn,
): Promise<boolean> {
  const contact = await lockContact(trx, contactId);
  if (!contact || normalizeEmail(contact.email)!.key !== emailKey) return false;
  if (contact.consent.email !== "none") return contact.consent.email === "opt_in";
  if (await findSuppression(trx, emailKey)) return false;
  await setConsent(trx, contactId, { email: "opt_in", basis });
  await recordChange(trx, {
    kind: "contact.consent",
    contactId,
    actor,
    action,
    subject,
    summary: "Opted in to e-mail",
    details: { consent: "opt_in" },
    evidence: { basis },
  });
  return true;
}

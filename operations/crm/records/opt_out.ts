import { type Db, normalizeEmail } from "../../../store/mod.ts";
import { lockContact, setConsent } from "../../../store/crm/mod.ts";
import { recordChange } from "./activities.ts";
import { suppressEmail } from "../../../store/mail/mod.ts";

/** Way in which a contact opted out. */
export interface OptOut {
  /** Such as "unsubscribe link" or "said so on the phone". */
  readonly basis: string;
  readonly actor: string;
  /** Name of the operation or workflow. */
  readonly action: string;
  /** Public subject of the receipt, in place of the contact. */
  readonly subject?: string;
}

/**
 * Opts a contact out of e-mail, for good: its address is not mailed any more, even as that of a new contact. Must run
 * in a transaction; the change is sealed with it.
 *
 * @returns id of the receipt, or undefined where there is no such contact or it has opted out before
 */
export async function optOut(
  trx: Db,
  contactId: string,
  { basis, actor, action, subject }: OptOut,
): Promise<string | undefined> {
  const contact = await lockContact(trx, contactId);
  if (!contact || contact.consent.email === "opt_out") return undefined;
  await setConsent(trx, contactId, { email: "opt_out", basis });
  await suppressEmail(trx, normalizeEmail(contact.email)!.key, "opted_out");
  return await recordChange(trx, {
    kind: "contact.opted_out",
    contactId,
    actor,
    action,
    subject,
    summary: "Opted out of e-mail",
    evidence: { basis },
  });
}

/** The mail that asks the holder of an address to confirm what a form has taken (double opt-in). */
import { Problem } from "../../../contract/mod.ts";
import { normalizeEmail } from "../../../store/mod.ts";
import { mailLink } from "./links.ts";
import { checkMail, type MailParts, sendMail } from "./send.ts";
import { hasOtherConfirmation } from "../../../store/mail/mod.ts";

/** A wish to have an address confirmed. */
export interface ConfirmationOrder {
  /** Id of the mail. */
  readonly id: string;
  readonly email: string;
  /** Receipt of the lead. The mail has no other: it would tell that the address was not known. */
  readonly receiptId: string;
  readonly askedByKey: string | null;
}

/**
 * Sends the mail with the link that opts a contact in: one a day to an address, and none where nobody takes mail for it, or
 * its holder has opted out. Nothing in it comes from the form, which anybody can fill in.
 *
 * @returns false: none is sent
 */
export async function sendConfirmation(
  parts: MailParts,
  { id, email, receiptId, askedByKey }: ConfirmationOrder,
): Promise<boolean> {
  const { key } = normalizeEmail(email)!;
  const body = TEXT.replace("LINK", await mailLink(parts, "confirm", id));
  try {
    await checkMail(parts, { to: email, kind: "confirmation" });
    await sendMail(parts, {
      id,
      kind: "confirmation",
      to: email,
      subject: "Please confirm your address",
      body,
      automatic: "generated",
      askedBy: "leads",
      askedByKey,
      receiptId,
    }, async (trx) => {
      if (await hasOtherConfirmation(trx, key, id)) throw new AlreadyAsked();
    });
    return true;
  } catch (error) {
    const isRefused = error instanceof Problem &&
      (error.name === "NotConfigured" || error.name === "Denied");
    if (isRefused || error instanceof AlreadyAsked) return false;
    throw error;
  }
}

/** The address has been asked within a day. */
class AlreadyAsked extends Error {}

const TEXT = `Hello,

somebody, probably you, has entered this address in a form of ours. If you want to get mail from us,
open this link within seven days, and press the button there:

LINK

If it was not you, do nothing. You are not asked again today, and get no other mail by this form.`;

/** Texts that ask people about a held mail. */
import { redactSecrets } from "../../../contract/mod.ts";
import { type ApprovalGrounds, groundsOf } from "../../../contract/records/mod.ts";
import { type EmailRecord } from "../../../store/mail/mod.ts";

/** Name of the rule that holds mail. */
const MAIL_REVIEW_RULE = "mail-review";

/** Returns the action that people decide about: exactly this mail, by the hash of its bytes. */
export function emailAction(
  { id, kind, recipient, subject, body, commitment }: EmailRecord,
): Record<string, unknown> {
  return {
    send: "email",
    email_id: id,
    kind,
    to: recipient,
    subject: redactSecrets(subject),
    body: redactSecrets(body),
    message_commitment: commitment,
  };
}

/** Returns the grounds of a held mail: what the review found. */
export function groundsOfEmail({ findings }: Pick<EmailRecord, "findings">): ApprovalGrounds {
  const reasons = findings.map(({ about }) => about);
  return groundsOf({ rule: MAIL_REVIEW_RULE, reasons, personal: true });
}

import { type EmailResult, type RunId, say, type Text } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { addActivity } from "../../store/crm/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { type EmailRecord } from "../../store/mail/mod.ts";

/** Returns how to find out whether an `unknown` mail arrived. */
function wayToFindOut({ messageId, recipient }: EmailRecord): Text {
  return say`All of it was sent, and the server's answer was lost. Look for the Message-ID <${messageId}> in the log of your mail relay, or ask ${recipient}. It is not sent again by itself: send a new one if it did not arrive.`;
}

/** Requests the receipt of a mail's end, and tells people of it. Must run in a transaction. */
export async function recordEmailEnd(
  trx: Db,
  email: EmailRecord,
  { state, code, attempts, receipt_id }: EmailResult,
  run: RunId,
): Promise<void> {
  const { id, kind, contactId, subject, recipient } = email;
  await requestSeal(trx, {
    id: receipt_id,
    category: kind === "auto_reply" && state === "sent" ? "auto_reply_sent" : "email_ended",
    actor: "mail",
    subject: id,
    action: `email.${kind}`,
    outcome: state,
    details: {
      code,
      attempts,
      message_commitment: email.commitment,
      findings: email.findings.map((finding) => finding.code),
      ...run,
    },
    evidence: { to: recipient, subject, message_id: email.messageId, contact_id: contactId },
  });
  if (contactId) {
    await addActivity(trx, {
      kind: `mail.${state}`,
      contactId,
      actor: email.askedByKey ? `key:${email.askedByKey}` : "mail",
      summary: `${id}: ${code}`,
      receiptId: receipt_id,
    });
  }
  if (kind === "notice") return; // its delivery tells how it ended; a message would be a notice again
  await addMessage(trx, {
    kind: `mail.${state}`,
    from: "mail",
    subject: say`${TITLES[state]}: ${subject}`,
    text: state === "unknown"
      ? wayToFindOut(email)
      : say`To ${recipient}: ${code}, after ${attempts} ${
        attempts === 1 ? say`attempt` : say`attempts`
      }.`,
    refs: {
      receipt_id,
      email_id: id,
      ...(contactId ? { contact_id: contactId } : {}),
      ...(email.approvalId ? { approval_id: email.approvalId } : {}),
    },
    ...(state === "sent" ? {} : { severity: state === "unknown" ? "high" : "medium" }),
    key: `email/${receipt_id}`,
  });
}

const TITLES = {
  sent: "Mail sent",
  not_sent: "Mail not sent",
  unknown: "Nobody can tell whether a mail was sent",
} as const;

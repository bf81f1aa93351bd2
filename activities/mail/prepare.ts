import { hasApproved, putQuestion, type StoredQuestion } from "../../calls/approvals/mod.ts";
import { emailAction, groundsOfEmail } from "../../operations/mail/sending/mod.ts";
import { mayStillAct, receiptIdOf } from "../../calls/mod.ts";
import type { RunId } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { type EmailOrder, requireEmail } from "./_mail.ts";
import {
  type EmailRecord,
  hasOtherAnswer,
  lockEmail,
  reviveEmail,
  settleEmail,
} from "../../store/mail/mod.ts";

/** Creates the activities that have people asked about a mail, where it has to be, and seal that it is about to be sent. */
export function prepareEmailActivities({ store: { db }, config }: ActivityParts) {
  /**
   * Stores what people are asked about a held mail; or seals the intent of one that is not held. Safe to repeat: the mail
   * names its approval, and the run its receipt.
   */
  async function prepareEmail(
    { email_id, run }: EmailOrder,
  ): Promise<{ readonly held: StoredQuestion | null }> {
    await reviveEmail(db, email_id);
    const email = await requireEmail(db, email_id);
    if (email.state === "queued") {
      await db.transaction((trx) => sealIntent(trx, email, run));
      return { held: null };
    }
    if (email.state !== "held" || !email.approvalId) return { held: null };
    const known = await getApproval(db, email.approvalId);
    if (known && known.status !== "pending") return await decideAtOnce({ email_id, run });
    const held = await putQuestion(db, config, {
      id: email.approvalId,
      subject: email.id,
      description: `Send a mail to ${email.recipient}: ${email.subject}`,
      action: emailAction(email),
      grounds: groundsOfEmail(email),
      requestedBy: email.askedBy,
      requestedByKey: email.askedByKey,
    });
    return { held };
  }

  async function decideAtOnce(order: EmailOrder): Promise<{ readonly held: null }> {
    await decideEmail(order);
    return { held: null };
  }

  /** Takes over what people have decided about a held mail: the database says what. Safe to repeat. */
  async function decideEmail({ email_id, run }: EmailOrder): Promise<void> {
    await db.transaction(async (trx) => {
      const email = await lockEmail(trx, email_id);
      if (email?.state !== "held") return;
      const approval = await getApproval(trx, email.approvalId!);
      const code = hasApproved(approval, emailAction(email))
        ? await findObjection(trx, email)
        : `approval_${approval?.status ?? "missing"}`;
      if (code) {
        await settleEmail(trx, email_id, { state: "not_sent", code });
        return;
      }
      await settleEmail(trx, email_id, { state: "queued", code: "approved" });
      await sealIntent(trx, email, run);
    });
  }

  /** Returns why an approved mail is not sent after all, or undefined. */
  async function findObjection(trx: Db, email: EmailRecord): Promise<string | undefined> {
    if (await isAnsweredByOther(trx, email)) return "answered";
    return await mayStillAct(trx, email.askedByKey) ? undefined : "key_revoked";
  }

  /** Returns whether a person has answered a received mail, so that the platform's draft is out of date. */
  async function isAnsweredByOther(trx: Db, { id, answers, findings }: EmailRecord) {
    if (!answers || !findings.some(({ code }) => code === "draft")) return false;
    return await hasOtherAnswer(trx, answers, id);
  }

  /** Seals the intent to send a mail. That of a confirmation is sealed with the lead that it is for. */
  async function sealIntent(trx: Db, email: EmailRecord, run: RunId): Promise<void> {
    if (email.kind === "confirmation") return;
    await requestSeal(trx, {
      id: receiptIdOf(run, "INTENT"),
      category: "email_intended",
      actor: email.askedByKey ? `key:${email.askedByKey}` : "mail",
      subject: email.id,
      action: `email.${email.kind}`,
      outcome: "intended",
      details: {
        message_commitment: email.commitment,
        bytes: email.message.length,
        ...(email.approvalId ? { approval_id: email.approvalId } : {}),
        ...run,
      },
      evidence: {
        salt: email.salt.toString("hex"),
        message_id: email.messageId,
        contact_id: email.contactId,
      },
    });
  }

  return { prepareEmail, decideEmail };
}

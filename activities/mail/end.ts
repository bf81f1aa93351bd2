import { receiptIdOf } from "../../calls/mod.ts";
import type { EmailResult } from "../../contract/domain/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { recordEmailEnd } from "./_end.ts";
import { type EmailOrder, isOver } from "./_mail.ts";
import {
  type AttemptEnd,
  endAttempt,
  lockEmail,
  setEmailReceipt,
  settleEmail,
} from "../../store/mail/mod.ts";

/** Creates the activities that end a mail. */
export function endEmailActivities({ store: { db } }: ActivityParts) {
  /** Stops a mail that no attempt is sending. Safe to repeat. */
  async function stopEmail({ email_id }: { readonly email_id: string }): Promise<void> {
    await db.transaction(async (trx) => {
      const email = await lockEmail(trx, email_id);
      if (!email || isOver(email)) return;
      if (await settleEmail(trx, email_id, { state: "not_sent", code: "cancelled" })) return;
      const end: AttemptEnd = email.endingAt
        ? { state: "unknown", code: "answer_lost" }
        : { state: "not_sent", code: "cancelled" };
      await endAttempt(trx, email_id, email.attempts, end);
    });
  }

  /**
   * Seals the end of a mail and tells it to people. That of a confirmation is not sealed: that one was sent, or was not,
   * would tell who is known. Safe to repeat: the run names the receipt.
   */
  async function sealEmail({ email_id, run }: EmailOrder): Promise<EmailResult> {
    const receipt_id = receiptIdOf(run, "END");
    return await db.transaction(async (trx) => {
      const email = (await lockEmail(trx, email_id))!;
      const { state, attempts, code } = email;
      const result = { email_id, state, code: code ?? state, attempts, receipt_id } as EmailResult;
      if (email.receiptId === receipt_id) return result;
      if (email.kind === "confirmation") return { ...result, receipt_id: email.receiptId! };
      await setEmailReceipt(trx, email_id, receipt_id);
      await recordEmailEnd(trx, email, result, run);
      return result;
    });
  }

  return { stopEmail, sealEmail };
}

import { cancellationSignal } from "@temporalio/activity";
import { bindAction, sha256 } from "../../calls/approvals/mod.ts";
import { emailAction, groundsOfEmail } from "../../calls/mail/mod.ts";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { EmailResult, EmailState, RunId } from "../../domain/mod.ts";
import {
  findServer,
  isInMailbox,
  isLocalAddress,
  mailboxFolder,
  type MailServer,
  parseAddress,
  type Transmission,
  transmitMail,
} from "../../integrations/mail/mod.ts";
import { canonicalize, requestSeal } from "../../ledger/mod.ts";
import {
  type AttemptEnd,
  beginAttempt,
  type Db,
  type EmailRecord,
  endAttempt,
  getApproval,
  getEmail,
  hasOtherAnswer,
  lockEmail,
  mayMail,
  noteEnding,
  putApproval,
  reviveEmail,
  setEmailReceipt,
  settleEmail,
} from "../../store/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { recordEmailEnd } from "./_end.ts";

/** An order about one mail. */
export interface EmailOrder {
  readonly email_id: string;
  readonly run: RunId;
}

/** An approval that a mail waits for. */
export interface EmailApproval {
  readonly approval_id: string;
  readonly action_sha256: string;
  readonly requested_by: string;
}

/** Result of one attempt. */
export interface EmailAttempt {
  readonly state: EmailState;
  readonly code: string;
  /** Null: there is no other attempt. */
  readonly retry_in_seconds: number | null;
}

/** Creates the activities that send mail. */
export function emailActivities(parts: ActivityParts) {
  const { store, config } = parts;
  const { db } = store;
  const pauses = config.settings.SEALOOP_SMTP_PAUSES;

  /**
   * Stores what people are asked about a held mail; or seals the intent of one that is not held. Safe to repeat: the mail
   * names its approval, and the run its receipt.
   */
  async function prepareEmail(
    { email_id, run }: EmailOrder,
  ): Promise<{ readonly held: EmailApproval | null }> {
    await reviveEmail(db, email_id);
    const email = await existing(email_id);
    if (email.state === "queued") {
      await db.transaction((trx) => sealIntent(trx, email, run));
      return { held: null };
    }
    if (email.state !== "held" || !email.approvalId) return { held: null };
    const action = emailAction(email);
    const text = canonicalize(action);
    const { settings } = config;
    const known = await getApproval(db, email.approvalId);
    if (known && known.status !== "pending") return await decideAtOnce({ email_id, run });
    await putApproval(db, {
      id: email.approvalId,
      subject: email.id,
      ticketId: null,
      description: `Send a mail to ${email.recipient}: ${email.subject}`,
      ...bindAction(action, text),
      grounds: groundsOfEmail(email),
      requestedBy: email.askedBy,
      requestedByKey: email.askedByKey,
      needed: 1,
      expiresInSeconds: settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
      escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
      askingRun: null,
    });
    return {
      held: {
        approval_id: email.approvalId,
        action_sha256: sha256(text),
        requested_by: email.askedByKey ? `key:${email.askedByKey}` : email.askedBy,
      },
    };
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
      const isApproved = approval?.status === "approved" &&
        approval.actionSha256 === sha256(canonicalize(emailAction(email)));
      if (!isApproved || await isAnsweredByOther(trx, email)) {
        const code = isApproved ? "answered" : `approval_${approval?.status ?? "missing"}`;
        await settleEmail(trx, email_id, { state: "not_sent", code });
        return;
      }
      await settleEmail(trx, email_id, { state: "queued", code: "approved" });
      await sealIntent(trx, email, run);
    });
  }

  /** Returns whether a person has answered a received mail, so that the platform's draft is out of date. */
  async function isAnsweredByOther(trx: Db, { id, answers, findings }: EmailRecord) {
    if (!answers || !findings.some(({ code }) => code === "draft")) return false;
    return await hasOtherAnswer(trx, answers, id);
  }

  async function sealIntent(trx: Db, email: EmailRecord, run: RunId): Promise<void> {
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
        ...(email.contactId ? { contact_id: email.contactId } : {}),
        ...run,
      },
      evidence: { salt: email.salt.toString("hex"), message_id: email.messageId },
    });
  }

  /**
   * Makes one attempt to send a mail. Safe to repeat: where a worker died in an attempt, the next one goes on only if the
   * mail was provably not ended; it then shuts out the one before, should that still live.
   */
  async function transmitEmail(
    { email_id, attempt }: { readonly email_id: string; readonly attempt: number },
  ): Promise<EmailAttempt> {
    const email = await existing(email_id);
    if (isOver(email)) return ended(email);
    const to = parseAddress(email.recipient)!;
    if (email.endingAt) return await proveLost(email);
    const number = await beginAttempt(db, email_id);
    if (number === undefined) return ended(await existing(email_id)); // another attempt was quicker
    const { allowed, reason } = await permission(email);
    const result = allowed
      ? await hand(email, number)
      : { state: "not_sent", code: reason!, isRetryable: false } as const;
    const proven = result.state === "sent" && isLocal(email)
      ? await proveDelivered(email, result)
      : result;
    const pause = proven.isRetryable ? pauses[attempt - 1] : undefined;
    const end: AttemptEnd = {
      state: pause === undefined ? proven.state : "queued",
      code: proven.code,
    };
    const isOurs = await endAttempt(db, email_id, number, end);
    if (!isOurs) return ended(await existing(email_id));
    return { ...end, retry_in_seconds: pause ?? null };

    function isLocal({ recipient }: EmailRecord): boolean {
      return isLocalAddress(parseAddress(recipient)!, config.settings);
    }

    /** Looks into the mailbox: another program may listen on the receiver's port. */
    async function proveDelivered(
      { message }: EmailRecord,
      result: Transmission,
    ): Promise<Transmission> {
      const isThere = await isInMailbox(mailboxFolder(config.dataDir, to), message);
      return isThere
        ? { ...result, code: "delivered" }
        : { state: "unknown", code: "not_in_mailbox", isRetryable: false };
    }

    /**
     * Finds out what became of a mail whose attempt was about to end it when its worker died. The mailboxes of this machine
     * can be looked into, and take the same bytes only once, so that such a mail may be sent again. Others can't be asked.
     */
    async function proveLost(lost: EmailRecord): Promise<EmailAttempt> {
      if (!isLocal(lost)) return await endLost(lost, { state: "unknown", code: "answer_lost" });
      const isThere = await isInMailbox(mailboxFolder(config.dataDir, to), lost.message);
      if (isThere) return await endLost(lost, { state: "sent", code: "delivered" });
      await endLost(lost, { state: "queued", code: "not_in_mailbox" });
      return await transmitEmail({ email_id, attempt });
    }
  }

  async function endLost(email: EmailRecord, end: AttemptEnd): Promise<EmailAttempt> {
    await endAttempt(db, email.id, email.attempts, end);
    return ended(await existing(email.id));
  }

  async function permission({ kind, recipient }: EmailRecord) {
    return kind === "notice" ? { allowed: true } : await mayMail(db, recipient);
  }

  async function hand(email: EmailRecord, number: number): Promise<Transmission> {
    const server = serverOf(email);
    if ("code" in server) return server;
    const from = config.settings.SEALOOP_MAIL_FROM;
    return await transmitMail(
      server,
      { from, to: email.recipient, bytes: email.message },
      () => noteEnding(db, email.id, number),
      { signal: cancellationSignal() },
    );
  }

  function serverOf({ recipient }: EmailRecord): MailServer | Transmission {
    try {
      const server = findServer(parseAddress(recipient)!, config);
      return server ?? { state: "not_sent", code: "not_configured", isRetryable: false };
    } catch {
      return { state: "not_sent", code: "bad_setting", isRetryable: true };
    }
  }

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

  /** Seals the end of a mail and tells it to people. Safe to repeat: the run names the receipt. */
  async function sealEmail({ email_id, run }: EmailOrder): Promise<EmailResult> {
    const receipt_id = receiptIdOf(run, "END");
    return await db.transaction(async (trx) => {
      const email = (await lockEmail(trx, email_id))!;
      const { state, attempts, code } = email;
      const result = { email_id, state, code: code ?? state, attempts, receipt_id } as EmailResult;
      if (email.receiptId === receipt_id) return result;
      await setEmailReceipt(trx, email_id, receipt_id);
      await recordEmailEnd(trx, email, result, run);
      return result;
    });
  }

  async function existing(id: string): Promise<EmailRecord> {
    const email = await getEmail(db, id);
    if (email) return email;
    throw new Problem("NotFound", `There is no mail ${id}`);
  }

  return { prepareEmail, decideEmail, transmitEmail, stopEmail, sealEmail };
}

function isOver({ state }: EmailRecord): boolean {
  return state === "sent" || state === "not_sent" || state === "unknown";
}

function ended({ state, code }: EmailRecord): EmailAttempt {
  const isWaiting = state === "sending" || state === "queued";
  return {
    state: state === "sending" ? "queued" : state,
    code: code ?? state,
    retry_in_seconds: isWaiting ? 1 : null,
  };
}

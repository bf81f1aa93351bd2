import { cancellationSignal } from "@temporalio/activity";
import type { EmailState } from "../../contract/domain/mod.ts";
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
import type { ActivityParts } from "../parts.ts";
import { holdWhile } from "../_pause.ts";
import { isOver, requireEmail } from "./_mail.ts";
import {
  type AttemptEnd,
  beginAttempt,
  type EmailRecord,
  endAttempt,
  mayMail,
  noteEnding,
} from "../../store/mail/mod.ts";

/** Result of one attempt. */
export interface EmailAttempt {
  readonly state: EmailState;
  readonly code: string;
  /** Null: there is no other attempt. */
  readonly retry_in_seconds: number | null;
}

/** Creates the activity that makes one attempt to send a mail. */
export function transmitEmailActivities({ store, config, timing }: ActivityParts) {
  const { db } = store;
  const pauses = config.settings.SEALOOP_SMTP_PAUSES;

  /**
   * Makes one attempt to send a mail. Safe to repeat: where a worker died in an attempt, the next one goes on only if the
   * mail was provably not ended; it then shuts out the one before, should that still live. While the flag `pause_mail` is
   * set, it waits.
   */
  async function transmitEmail(
    { email_id, attempt }: { readonly email_id: string; readonly attempt: number },
  ): Promise<EmailAttempt> {
    const email = await requireEmail(db, email_id);
    if (isOver(email)) return ended(email);
    const to = parseAddress(email.recipient)!;
    if (email.endingAt) return await proveLost(email);
    await holdWhile("pause_mail", { store, timing });
    const number = await beginAttempt(db, email_id);
    if (number === undefined) return ended(await requireEmail(db, email_id)); // another attempt was quicker
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
    if (!isOurs) return ended(await requireEmail(db, email_id));
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
    return ended(await requireEmail(db, email.id));
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

  return { transmitEmail };
}

function ended({ state, code }: EmailRecord): EmailAttempt {
  const isWaiting = state === "sending" || state === "queued";
  return {
    state: state === "sending" ? "queued" : state,
    code: code ?? state,
    retry_in_seconds: isWaiting ? 1 : null,
  };
}

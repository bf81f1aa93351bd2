import type { EmailKind, EmailState, MailFinding } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A mail to send. */
export interface NewEmail {
  /** `EML-` and 12 hex characters. */
  readonly id: string;
  readonly kind: EmailKind;
  readonly contactId: string | null;
  /** Id of the first mail of its thread; its own where it begins one. */
  readonly threadId: string;
  /** Reply that it answers. */
  readonly answers: string | null;
  readonly recipient: string;
  readonly recipientKey: string;
  readonly subject: string;
  readonly body: string;
  /** Without angle brackets. */
  readonly messageId: string;
  /** Exactly as each attempt sends it. */
  readonly message: Buffer;
  readonly commitment: string;
  readonly salt: Buffer;
  readonly findings: readonly MailFinding[];
  /** Null: it is not held for people. */
  readonly approvalId: string | null;
  readonly askedBy: string;
  readonly askedByKey: string | null;
  readonly receiptId: string | null;
}

/** A mail as it stands. */
export interface EmailRecord extends NewEmail {
  /** `sending`: an attempt is under way, or was. */
  readonly state: EmailState | "sending";
  readonly code: string | null;
  readonly attempts: number;
  /** When the attempt was about to end the mail; null: the server can't have it. */
  readonly endingAt: Date | null;
  readonly createdAt: Date;
}

/** Stores a mail, once. @returns false where it is there already */
export async function putEmail(trx: Db, email: NewEmail): Promise<boolean> {
  const added = await trx.execute(
    `INSERT INTO emails (id, kind, contact_id, thread_id, answers, recipient, recipient_key, subject, body, message_id,
       message, commitment, salt, findings, approval_id, asked_by, asked_by_key, receipt_id, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
       CASE WHEN $15::text IS NULL THEN 'queued' ELSE 'held' END)
     ON CONFLICT (tenant_id, id) DO NOTHING`,
    [
      email.id,
      email.kind,
      email.contactId,
      email.threadId,
      email.answers,
      email.recipient,
      email.recipientKey,
      email.subject,
      email.body,
      email.messageId,
      email.message,
      email.commitment,
      email.salt,
      JSON.stringify(email.findings),
      email.approvalId,
      email.askedBy,
      email.askedByKey,
      email.receiptId,
    ],
  );
  return added > 0;
}

/** Deletes a mail of which no attempt was made and that has not ended. */
export async function dropEmail(db: Db, id: string): Promise<void> {
  await db.execute(
    "DELETE FROM emails WHERE id = $1 AND attempts = 0 AND state IN ('held', 'queued')",
    [id],
  );
}

/** Returns a mail, or undefined. */
export async function getEmail(db: Db, id: string): Promise<EmailRecord | undefined> {
  const row = await db.first("SELECT * FROM emails WHERE id = $1", [id]);
  return row && toEmail(row);
}

/** Returns a mail and locks it until the transaction ends, or undefined. */
export async function lockEmail(trx: Db, id: string): Promise<EmailRecord | undefined> {
  const row = await trx.first("SELECT * FROM emails WHERE id = $1 FOR UPDATE", [id]);
  return row && toEmail(row);
}

/** Returns the newest mail whose Message-ID is one of these, or undefined. */
export async function findEmailByMessageId(
  db: Db,
  messageIds: readonly string[],
): Promise<EmailRecord | undefined> {
  const row = await db.first(
    "SELECT * FROM emails WHERE message_id = ANY($1) ORDER BY created_at DESC LIMIT 1",
    [messageIds],
  );
  return row && toEmail(row);
}

/** Returns whether a mail other than this one answers a received mail, or may. */
export async function hasOtherAnswer(db: Db, replyId: string, emailId: string): Promise<boolean> {
  const row = await db.first(
    "SELECT FROM emails WHERE answers = $1 AND id <> $2 AND state <> 'not_sent' LIMIT 1",
    [replyId, emailId],
  );
  return row !== undefined;
}

/** Returns whether an address got another mail within a day that asks for its consent. */
export async function hasOtherConfirmation(
  trx: Db,
  recipientKey: string,
  emailId: string,
): Promise<boolean> {
  const row = await trx.first(
    `SELECT FROM emails WHERE kind = 'confirmation' AND recipient_key = $1 AND id <> $2
       AND created_at > now() - interval '1 day' LIMIT 1`,
    [recipientKey, emailId],
  );
  return row !== undefined;
}

/** Returns to how many addresses somebody has mailed within a day, and how many of these mails have the same text. */
export async function countRecipients(
  db: Db,
  { askedBy, body }: Pick<NewEmail, "askedBy" | "body">,
): Promise<{ readonly all: number; readonly sameText: number }> {
  const row = await db.first<{ all: number; same: number }>(
    `SELECT count(DISTINCT recipient_key)::int AS all,
       (count(DISTINCT recipient_key) FILTER (WHERE body = $2))::int AS same
     FROM emails WHERE asked_by = $1 AND kind <> 'notice' AND created_at > now() - interval '1 day'`,
    [askedBy, body],
  );
  return { all: row!.all, sameText: row!.same };
}

/**
 * Begins an attempt, unless the mail has ended, or an earlier attempt may have ended it. From then on no earlier attempt
 * can end the mail.
 *
 * @returns number of the attempt, or undefined
 */
export async function beginAttempt(trx: Db, id: string): Promise<number | undefined> {
  const row = await trx.first<{ attempts: number }>(
    `UPDATE emails SET state = 'sending', attempts = attempts + 1
     WHERE id = $1 AND state IN ('queued', 'sending') AND ending_at IS NULL RETURNING attempts`,
    [id],
  );
  return row?.attempts;
}

/** Notes that an attempt is about to end the mail. @returns false: another attempt has taken over */
export async function noteEnding(db: Db, id: string, attempt: number): Promise<boolean> {
  const noted = await db.execute(
    `UPDATE emails SET ending_at = clock_timestamp()
     WHERE id = $1 AND attempts = $2 AND state = 'sending' AND ending_at IS NULL`,
    [id, attempt],
  );
  return noted > 0;
}

/** The end of an attempt. `queued`: there will be another one. */
export interface AttemptEnd {
  readonly state: "queued" | "sent" | "not_sent" | "unknown";
  readonly code: string;
}

/** Stores how an attempt ended. @returns false: another attempt has taken over */
export async function endAttempt(
  db: Db,
  id: string,
  attempt: number,
  { state, code }: AttemptEnd,
): Promise<boolean> {
  const ended = await db.execute(
    `UPDATE emails SET state = $3, code = $4, ending_at = NULL,
       ended_at = CASE WHEN $3 <> 'queued' THEN clock_timestamp() END
     WHERE id = $1 AND attempts = $2 AND state = 'sending'`,
    [id, attempt, state, code],
  );
  return ended > 0;
}

/** Ends a mail of which no attempt is under way; or lets a held one be sent. @returns false: it is in another state */
export async function settleEmail(
  trx: Db,
  id: string,
  { state, code }: { readonly state: "queued" | "not_sent"; readonly code: string },
): Promise<boolean> {
  const settled = await trx.execute(
    `UPDATE emails SET state = $2, code = $3,
       ended_at = CASE WHEN $2 = 'not_sent' THEN clock_timestamp() END
     WHERE id = $1 AND (state = 'held' OR state = 'queued' AND $2 = 'not_sent')`,
    [id, state, code],
  );
  return settled > 0;
}

/** Codes of mail that people denied, or did not decide about. It is sent after all where they reopen and approve it. */
export const REVIVABLE_CODES = ["approval_denied", "approval_expired"];

/** Condition: people denied a mail, or did not decide, and have approved it since. */
const APPROVED_SINCE =
  `id = $1 AND state = 'not_sent' AND code = ANY ('{${REVIVABLE_CODES}}') AND EXISTS (
     SELECT FROM approvals a WHERE a.id = emails.approval_id AND a.status = 'approved')`;

/** Returns whether a mail ended as people denied it, or did not decide, and they have approved it since. */
export async function mayReviveEmail(db: Db, id: string): Promise<boolean> {
  return await db.first(`SELECT FROM emails WHERE ${APPROVED_SINCE}`, [id]) !== undefined;
}

/** Lets a mail be sent as {@linkcode mayReviveEmail} says. */
export async function reviveEmail(trx: Db, id: string): Promise<void> {
  await trx.execute(
    `UPDATE emails SET state = 'held', code = NULL, ended_at = NULL, receipt_id = NULL WHERE ${APPROVED_SINCE}`,
    [id],
  );
}

/** Stores the receipt of a mail's end. */
export async function setEmailReceipt(trx: Db, id: string, receiptId: string): Promise<void> {
  await trx.execute("UPDATE emails SET receipt_id = $2 WHERE id = $1", [id, receiptId]);
}

function toEmail(row: Row): EmailRecord {
  return {
    id: row.id,
    kind: row.kind,
    contactId: row.contact_id,
    threadId: row.thread_id,
    answers: row.answers,
    recipient: row.recipient,
    recipientKey: row.recipient_key,
    subject: row.subject,
    body: row.body,
    messageId: row.message_id,
    message: row.message,
    commitment: row.commitment,
    salt: row.salt,
    findings: row.findings,
    approvalId: row.approval_id,
    askedBy: row.asked_by,
    askedByKey: row.asked_by_key,
    state: row.state,
    code: row.code,
    attempts: row.attempts,
    endingAt: row.ending_at,
    createdAt: row.created_at,
    receiptId: row.receipt_id,
  };
}

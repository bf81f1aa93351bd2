import type { Db, Row } from "../connection.ts";

/** State of a received mail. `draft`: no answer of ours is under way. */
type ReplyState = "draft" | "held" | "sent" | "ignored";

/** A received mail to store. */
export interface NewReply {
  /** `RPL-` and 12 hex characters, made from the mail. */
  readonly id: string;
  readonly threadId: string;
  /** Mail that it answers; null: none of ours. */
  readonly emailId: string | null;
  readonly contactId: string | null;
  readonly sender: string;
  readonly senderKey: string;
  readonly subject: string;
  readonly body: string;
  readonly messageId: string;
  readonly references: readonly string[];
  /** Why it is ignored; null: it may be answered. */
  readonly ignored: string | null;
  readonly ticketId: string | null;
  readonly receiptId: string;
}

/** A source that a draft cites. */
interface ReplyCitation {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
}

/** A received mail as it stands. */
export interface ReplyRecord extends Omit<NewReply, "ignored"> {
  readonly state: ReplyState;
  readonly code: string | null;
  readonly draft: string | null;
  readonly citations: readonly ReplyCitation[];
  /** Our mail that answers it: one that was sent, else one that may be sent, else the newest. */
  readonly answerId: string | null;
  /** The approval of the answer, while that is held. */
  readonly approvalId: string | null;
  readonly receivedAt: Date;
}

/** A received mail's state is that of our answer, once there is one. */
export const SELECT_REPLY = `SELECT r.*, e.id AS answer_id,
    CASE WHEN e.state = 'held' THEN e.approval_id END AS approval_id,
    CASE WHEN r.state = 'ignored' THEN 'ignored'
    WHEN e.state = 'sent' THEN 'sent'
    WHEN e.state IN ('held', 'queued', 'sending', 'unknown') THEN 'held'
    ELSE 'draft' END AS shown
  FROM email_replies r LEFT JOIN LATERAL (
    SELECT * FROM emails WHERE answers = r.id
    ORDER BY state = 'sent' DESC, state = 'not_sent', created_at DESC LIMIT 1
  ) e ON true`;

/** Stores a received mail, once. @returns false where it is there already */
export async function putReply(trx: Db, reply: NewReply): Promise<boolean> {
  const added = await trx.execute(
    `INSERT INTO email_replies (id, thread_id, email_id, contact_id, sender, sender_key, subject, body, message_id,
       mail_references, state, code, ticket_id, receipt_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $11::text IS NULL THEN 'draft' ELSE 'ignored' END, $11,
       $12, $13)
     ON CONFLICT (tenant_id, id) DO NOTHING`,
    [
      reply.id,
      reply.threadId,
      reply.emailId,
      reply.contactId,
      reply.sender,
      reply.senderKey,
      reply.subject,
      reply.body,
      reply.messageId,
      reply.references,
      reply.ignored,
      reply.ticketId,
      reply.receiptId,
    ],
  );
  return added > 0;
}

/** Stores the proposed answer to a received mail. */
export async function setReplyDraft(
  db: Db,
  id: string,
  { draft, citations }: Pick<ReplyRecord, "draft" | "citations">,
): Promise<void> {
  await db.execute("UPDATE email_replies SET draft = $2, citations = $3 WHERE id = $1", [
    id,
    draft,
    JSON.stringify(citations),
  ]);
}

/** Returns a received mail, or undefined. */
export async function getReply(db: Db, id: string): Promise<ReplyRecord | undefined> {
  const row = await db.first(`${SELECT_REPLY} WHERE r.id = $1`, [id]);
  return row && toReply(row);
}

/** Returns received mail, newest first, and the number of all. */
export async function listReplies(
  db: Db,
  limit: number,
): Promise<{ readonly total: number; readonly replies: ReplyRecord[] }> {
  const [count, rows] = await Promise.all([
    db.first<{ total: number }>("SELECT count(*)::int AS total FROM email_replies"),
    db.query(`${SELECT_REPLY} ORDER BY r.received_at DESC, r.id DESC LIMIT $1`, [limit]),
  ]);
  return { total: count!.total, replies: rows.map(toReply) };
}

/** Returns whether a contact has written to us since a moment; what programs send in its name does not count. */
export async function hasReplied(db: Db, contactId: string, since: Date): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM email_replies
     WHERE contact_id = $1 AND received_at > $2 AND coalesce(code, '') NOT IN ('auto_submitted', 'bounce', 'list')
     LIMIT 1`,
    [contactId, since],
  );
  return row !== undefined;
}

/** Returns whether the platform has answered somebody by itself within a day. */
export async function hasAutoReply(db: Db, recipientKey: string): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM emails WHERE recipient_key = $1 AND kind = 'auto_reply' AND state <> 'not_sent'
       AND created_at > now() - interval '1 day' LIMIT 1`,
    [recipientKey],
  );
  return row !== undefined;
}

function toReply(row: Row): ReplyRecord {
  return {
    id: row.id,
    threadId: row.thread_id,
    emailId: row.email_id,
    contactId: row.contact_id,
    sender: row.sender,
    senderKey: row.sender_key,
    subject: row.subject,
    body: row.body,
    messageId: row.message_id,
    references: row.mail_references,
    state: row.shown,
    code: row.code,
    draft: row.draft,
    citations: row.citations,
    ticketId: row.ticket_id,
    answerId: row.answer_id,
    approvalId: row.approval_id,
    receivedAt: row.received_at,
    receiptId: row.receipt_id,
  };
}

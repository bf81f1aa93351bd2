import { randomBytes } from "node:crypto";
import type {
  Channel,
  MessageKind,
  MessageRefs,
  Severity,
  Text,
} from "../../contract/domain/mod.ts";
import { keepComposedTexts } from "../composed_texts.ts";
import type { Db, Row } from "../connection.ts";

/** Notification channel of the tenants that have new messages. */
export const MESSAGES_ADDED = "sealoop_messages";

/** A message to add to the feed. */
export interface NewMessage {
  readonly kind: MessageKind;
  /** Channel that it was written for. Default: `feed`. */
  readonly channel?: Channel;
  /** A principal, an agent, or the part of the platform that tells it. */
  readonly from: string;
  readonly subject: Text;
  readonly text: Text;
  readonly refs?: MessageRefs;
  /** Severity and service of what it is about. Notices are routed by them. */
  readonly severity?: Severity | undefined;
  readonly service?: string | null | undefined;
  /** Identifies the news, so that a step that is repeated tells it once. */
  readonly key?: string;
}

/** A message of the feed. */
export interface Message {
  /** `MSG-` and 12 hex characters. */
  readonly id: string;
  /** From 1, without gaps, in the order in which the messages were committed. */
  readonly position: number;
  readonly at: string;
  readonly channel: Channel;
  readonly kind: MessageKind;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly refs: MessageRefs;
  readonly severity: Severity | null;
  readonly service: string | null;
}

const COLUMNS = "id, position, at, channel, kind, sender, subject, text, refs, severity, service";

/**
 * Adds a message to the feed, in the transaction of the change that it tells of. Its position is given when the
 * transaction commits.
 *
 * @returns its id, or undefined where a message with its key is there
 */
export async function addMessage(trx: Db, message: NewMessage): Promise<string | undefined> {
  const { channel = "feed", kind, from, subject, text, refs = {}, severity, service, key } =
    message;
  const row = await trx.first<{ id: string }>(
    `INSERT INTO messages (id, key, channel, kind, sender, subject, text, refs, severity, service)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (tenant_id, key) DO NOTHING RETURNING id`,
    [
      `MSG-${randomBytes(6).toString("hex")}`,
      key,
      channel,
      kind,
      from,
      String(subject),
      String(text),
      JSON.stringify(refs),
      severity,
      service,
    ],
  );
  if (row) await keepComposedTexts(trx, [subject, text]);
  return row?.id;
}

/** Returns a message, or undefined. */
export async function getMessage(db: Db, id: string): Promise<Message | undefined> {
  const row = await db.first(`SELECT ${COLUMNS} FROM messages WHERE id = $1`, [id]);
  return row && toMessage(row);
}

/** Returns the message with a key, or undefined. */
export async function getMessageByKey(db: Db, key: string): Promise<Message | undefined> {
  const row = await db.first(`SELECT ${COLUMNS} FROM messages WHERE key = $1`, [key]);
  return row && toMessage(row);
}

/** Returns the position of the newest message; 0: there is none. */
export async function getNewestPosition(db: Db): Promise<number> {
  const row = await db.first<{ newest: string }>("SELECT newest FROM message_counts");
  return Number(row?.newest ?? 0);
}

/** Returns the position of the newest message that was written before a time; 0: there is none. */
export async function getPositionAt(db: Db, time: Date): Promise<number> {
  const row = await db.first<{ position: string }>(
    "SELECT max(position) AS position FROM messages WHERE at < $1",
    [time],
  );
  return Number(row?.position ?? 0);
}

/** Returns the position before the first message that was written at a time or later; undefined: there is none yet. */
export async function getPositionBefore(db: Db, time: Date): Promise<number | undefined> {
  const row = await db.first<{ position: string | null }>(
    "SELECT min(position) - 1 AS position FROM messages WHERE at >= $1",
    [time],
  );
  return row?.position == null ? undefined : Number(row.position);
}

/** Returns the messages after a position, oldest first. None that is committed later can come before them. */
export async function listMessagesAfter(
  db: Db,
  position: number,
  limit: number,
): Promise<Message[]> {
  const rows = await db.query(
    `SELECT ${COLUMNS} FROM messages WHERE position > $1 ORDER BY position LIMIT $2`,
    [position, limit],
  );
  return rows.map(toMessage);
}

/** Selects messages. Fields that are left out match everything. */
export interface MessageFilter {
  readonly kind?: MessageKind | undefined;
  readonly channel?: Channel | undefined;
  readonly ticketId?: string | undefined;
  /** Messages before this position. */
  readonly before?: number | undefined;
  /** Messages after this position. */
  readonly after?: number | undefined;
  /** Messages that were written at this time or later. */
  readonly from?: Date | undefined;
}

/** Returns messages, newest first, and the number of all that the filter selects, whatever their position. */
export async function listMessages(
  db: Db,
  { kind, channel, ticketId, before, after, from }: MessageFilter,
  limit: number,
): Promise<{ readonly total: number; readonly messages: Message[] }> {
  const { rows, total } = (await db.first<{ rows: Row[] | null; total: number }>(
    `WITH selected AS (
       SELECT ${COLUMNS} FROM messages
       WHERE ($1::text IS NULL OR kind = $1) AND ($2::text IS NULL OR channel = $2)
         AND ($3::text IS NULL OR refs->>'ticket_id' = $3)
         AND ($6::bigint IS NULL OR position > $6) AND ($7::timestamptz IS NULL OR at >= $7))
     SELECT (SELECT count(*)::int FROM selected) AS total,
       (SELECT json_agg(page) FROM (
         SELECT * FROM selected WHERE $4::bigint IS NULL OR position < $4
         ORDER BY position DESC LIMIT $5) AS page) AS rows`,
    [kind, channel, ticketId, before, limit, after, from],
  ))!;
  return { total, messages: (rows ?? []).map(toMessage) };
}

function toMessage(row: Row): Message {
  return {
    id: row.id,
    position: Number(row.position),
    at: new Date(row.at).toISOString(),
    channel: row.channel,
    kind: row.kind,
    from: row.sender,
    subject: row.subject,
    text: row.text,
    refs: row.refs,
    severity: row.severity,
    service: row.service,
  };
}

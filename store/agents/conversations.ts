import type { Source } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** Days that a conversation is kept after its last message. */
const RETENTION_DAYS = 90;

/** A conversation of one key with one agent. */
export interface Conversation {
  readonly id: string;
  /** Public id of the only key that may read it. */
  readonly keyId: string;
  readonly agentId: string;
}

/** A message of a conversation. */
export interface ConversationMessage {
  readonly id: string;
  readonly role: "user" | "agent";
  readonly text: string;
  readonly citations: readonly Source[];
  readonly at: string;
  /** Null: of a user. */
  readonly receiptId: string | null;
}

/** Begins a conversation, and deletes old ones. */
export async function addConversation(
  trx: Db,
  { id, keyId, agentId }: Conversation,
): Promise<void> {
  await trx.execute(
    `DELETE FROM conversations WHERE id IN (SELECT id FROM conversations
       WHERE last_at < now() - make_interval(days => $1) ORDER BY last_at LIMIT 20)`,
    [RETENTION_DAYS],
  );
  await trx.execute(
    "INSERT INTO conversations (id, key_id, agent_id) VALUES ($1, $2, $3)",
    [id, keyId, agentId],
  );
}

/** Returns a conversation, or undefined. */
export async function getConversation(db: Db, id: string): Promise<Conversation | undefined> {
  const row = await db.first("SELECT id, key_id, agent_id FROM conversations WHERE id = $1", [id]);
  return row && toConversation(row);
}

/** Returns the conversation of a key with an agent that has the newest message, or undefined. */
export async function findNewestConversation(
  db: Db,
  keyId: string,
  agentId: string,
): Promise<Conversation | undefined> {
  const row = await db.first(
    `SELECT id, key_id, agent_id FROM conversations
     WHERE key_id = $1 AND agent_id = $2 ORDER BY last_at DESC, id LIMIT 1`,
    [keyId, agentId],
  );
  return row && toConversation(row);
}

function toConversation({ id, key_id, agent_id }: Row): Conversation {
  return { id, keyId: key_id, agentId: agent_id };
}

/** Returns the messages of a conversation, newest first, and their number. */
export async function listConversationMessages(
  db: Db,
  conversationId: string,
  limit: number,
): Promise<{ readonly total: number; readonly messages: ConversationMessage[] }> {
  const rows = await db.query(
    `SELECT *, count(*) OVER ()::int AS total FROM conversation_messages
     WHERE conversation_id = $1 ORDER BY number DESC LIMIT $2`,
    [conversationId, limit],
  );
  const messages = rows.map(({ id, role, text, citations, at, receipt_id }) => ({
    id,
    role,
    text,
    citations: citations ?? [],
    at: at.toISOString(),
    receiptId: receipt_id,
  }));
  return { total: rows[0]?.total ?? 0, messages };
}

/** Counts the messages of a conversation, and the questions that wait for an answer. */
export async function countConversationMessages(
  db: Db,
  conversationId: string,
): Promise<{ readonly total: number; readonly waiting: number }> {
  const row = await db.first<{ total: number; waiting: number }>(
    `SELECT count(*)::int AS total,
       (count(*) FILTER (WHERE role = 'user') - count(answers))::int AS waiting
     FROM conversation_messages WHERE conversation_id = $1`,
    [conversationId],
  );
  return row!;
}

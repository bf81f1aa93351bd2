import type { Source } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A question of a conversation. */
export interface StoredQuestion {
  readonly id: string;
  readonly number: number;
  readonly text: string;
  /** Runs that have begun to answer it, this one included. */
  readonly attempts: number;
}

/** An answer to store. */
export interface NewAnswer {
  readonly id: string;
  /** Id of the question. */
  readonly answers: string;
  readonly text: string;
  readonly outcome: string;
  readonly citations: readonly Source[];
  readonly receiptId: string;
}

/** Counts the questions that wait for an answer, by agent. */
export async function countWaitingQuestions(db: Db): Promise<Map<string, number>> {
  const rows = await db.query<{ agent_id: string; waiting: number }>(
    `SELECT agent_id, count(*)::int AS waiting
     FROM conversation_messages q JOIN conversations c ON c.id = q.conversation_id
     WHERE role = 'user' AND NOT EXISTS (SELECT FROM conversation_messages a WHERE a.answers = q.id)
     GROUP BY agent_id`,
  );
  return new Map(rows.map(({ agent_id, waiting }) => [agent_id, waiting]));
}

/** Adds a question at the end of a conversation. Questions of one conversation wait for each other's transactions. */
export async function addQuestion(
  trx: Db,
  conversationId: string,
  { id, text }: { readonly id: string; readonly text: string },
): Promise<void> {
  await trx.execute(
    `INSERT INTO conversation_messages (id, conversation_id, number, role, text)
     VALUES ($1, $2, $3, 'user', $4)`,
    [id, conversationId, await nextNumber(trx, conversationId), text],
  );
}

/** Returns the number of the next message, and locks the conversation until the transaction has ended. */
async function nextNumber(trx: Db, conversationId: string): Promise<number> {
  const row = await trx.first<{ messages: number }>(
    `UPDATE conversations SET messages = messages + 1, last_at = clock_timestamp()
     WHERE id = $1 RETURNING messages`,
    [conversationId],
  );
  return row!.messages;
}

/** Returns whether a message is there. */
export async function hasConversationMessage(db: Db, id: string): Promise<boolean> {
  return await db.first("SELECT FROM conversation_messages WHERE id = $1", [id]) !== undefined;
}

/** Deletes a question that no run has begun to answer, and its conversation if it was the first. @returns false: one has */
export async function dropQuestion(db: Db, conversationId: string, id: string): Promise<boolean> {
  const dropped = await db.execute(
    "DELETE FROM conversation_messages WHERE id = $1 AND role = 'user' AND attempts = 0",
    [id],
  );
  if (dropped === 0) return false;
  await db.execute(
    `DELETE FROM conversations c WHERE id = $1
       AND NOT EXISTS (SELECT FROM conversation_messages WHERE conversation_id = c.id)`,
    [conversationId],
  );
  return true;
}

/** Returns the text of a question to an agent, or undefined. */
export async function getQuestionText(
  db: Db,
  { id, conversationId, agentId }: {
    readonly id: string;
    readonly conversationId: string;
    readonly agentId: string;
  },
): Promise<string | undefined> {
  const row = await db.first<{ text: string }>(
    `SELECT q.text FROM conversation_messages q JOIN conversations c ON c.id = q.conversation_id
     WHERE q.id = $1 AND c.id = $2 AND c.agent_id = $3 AND q.role = 'user'`,
    [id, conversationId, agentId],
  );
  return row?.text;
}

/** Takes the first question of a conversation that is not answered; undefined: all are. */
export async function takeQuestion(
  db: Db,
  conversationId: string,
): Promise<StoredQuestion | undefined> {
  return await db.first<StoredQuestion & Row>(
    `UPDATE conversation_messages SET attempts = attempts + 1
     WHERE id = (SELECT id FROM conversation_messages q
         WHERE conversation_id = $1 AND role = 'user'
           AND NOT EXISTS (SELECT FROM conversation_messages a WHERE a.answers = q.id)
         ORDER BY number LIMIT 1)
     RETURNING id, number, text, attempts`,
    [conversationId],
  );
}

/** An earlier question with its answer. */
export interface EarlierTurn {
  readonly text: string;
  readonly outcome: string;
}

/** Returns the answered questions before a message, newest first. */
export async function listEarlierTurns(
  db: Db,
  conversationId: string,
  before: number,
  limit: number,
): Promise<EarlierTurn[]> {
  return await db.query<EarlierTurn & Row>(
    `SELECT q.text, a.outcome FROM conversation_messages q
       JOIN conversation_messages a ON a.answers = q.id
     WHERE q.conversation_id = $1 AND q.number < $2 ORDER BY q.number DESC LIMIT $3`,
    [conversationId, before, limit],
  );
}

/** Adds an answer. @returns false where the question has one already, or is gone */
export async function addAnswer(
  trx: Db,
  conversationId: string,
  { id, answers, text, outcome, citations, receiptId }: NewAnswer,
): Promise<boolean> {
  const open = await trx.first(
    `SELECT FROM conversations c JOIN conversation_messages q ON q.conversation_id = c.id
     WHERE c.id = $1 AND q.id = $2
       AND NOT EXISTS (SELECT FROM conversation_messages a WHERE a.answers = q.id) FOR UPDATE OF c`,
    [conversationId, answers],
  );
  if (!open) return false;
  await trx.execute(
    `INSERT INTO conversation_messages
       (id, conversation_id, number, role, text, answers, outcome, citations, receipt_id)
     VALUES ($1, $2, $3, 'agent', $4, $5, $6, $7, $8)`,
    [
      id,
      conversationId,
      await nextNumber(trx, conversationId),
      text,
      answers,
      outcome,
      JSON.stringify(citations),
      receiptId,
    ],
  );
  return true;
}

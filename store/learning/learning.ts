import type { Db } from "../connection.ts";
import type { NewPassage } from "./knowledge.ts";

/** Lesson of a resolved ticket, as the arbiter scored it. */
export interface LearningItem {
  /** `LRN-` and 12 hex characters. */
  readonly id: string;
  readonly ticket_id: string;
  readonly title: string;
  readonly category: string;
  /** 0 to 100. */
  readonly score: number;
  readonly factors: readonly { readonly factor: string; readonly points: number }[];
  /** Added to the knowledge base when the item is applied. */
  readonly passage: NewPassage;
  readonly state: "dropped" | "queued" | "applied";
  /** Receipt of the applied lesson. */
  readonly receipt_id: string | null;
}

/** A stored item. */
export interface LearningRecord extends LearningItem {
  /** Principal who applied it; null: the arbiter decided. */
  readonly decided_by: string | null;
  /** ISO 8601. */
  readonly made_at: string;
  /** Receipt of the ticket that it was learnt from; null: the ticket has none. */
  readonly learned_from: string | null;
}

/** Stores items. A ticket has one item at most: the first stays. */
export async function addLearningItems(db: Db, items: readonly LearningItem[]): Promise<void> {
  if (items.length === 0) return;
  await db.execute(
    `INSERT INTO learning_items (id, ticket_id, title, category, score, factors, passage, state, receipt_id, applied_at)
     SELECT id, ticket_id, title, category, score, factors, passage, state, receipt_id,
       CASE WHEN state = 'applied' THEN now() END
     FROM jsonb_to_recordset($1) AS i (id text, ticket_id text, title text, category text, score smallint,
       factors jsonb, passage jsonb, state text, receipt_id text)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(items)],
  );
}

/** Returns the items that wait for people, the highest score first. */
export async function listQueuedLearningItems(db: Db, limit: number): Promise<LearningRecord[]> {
  const rows = await db.query(
    `SELECT i.id, i.ticket_id, i.title, i.category, i.score, i.factors, i.passage, i.state,
       i.receipt_id, i.decided_by, to_json(i.made_at) AS made_at, t.receipt_id AS learned_from
     FROM learning_items i LEFT JOIN tickets t ON t.id = i.ticket_id
     WHERE i.state = 'queued' ORDER BY i.score DESC, i.made_at, i.id LIMIT $1`,
    [limit],
  );
  return rows as LearningRecord[];
}

/** Returns an item by id, or undefined. */
export async function getLearningItem(db: Db, id: string): Promise<LearningRecord | undefined> {
  const row = await db.first(
    `SELECT i.id, i.ticket_id, i.title, i.category, i.score, i.factors, i.passage, i.state,
       i.receipt_id, i.decided_by, to_json(i.made_at) AS made_at, t.receipt_id AS learned_from
     FROM learning_items i LEFT JOIN tickets t ON t.id = i.ticket_id WHERE i.id = $1`,
    [id],
  );
  return row as LearningRecord | undefined;
}

/** Marks an item that waits for people as applied. @returns false if it does not wait */
export async function applyLearningItem(
  db: Db,
  id: string,
  { principal, receiptId }: { readonly principal: string; readonly receiptId: string },
): Promise<boolean> {
  const applied = await db.execute(
    `UPDATE learning_items SET state = 'applied', decided_by = $2, receipt_id = $3, applied_at = now()
     WHERE id = $1 AND state = 'queued'`,
    [id, principal, receiptId],
  );
  return applied > 0;
}

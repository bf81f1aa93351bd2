import type { Queryable } from "./connection.ts";
import { DRILLS, type NewPassage } from "./knowledge.ts";

/** What a resolved ticket taught, as the arbiter scored it. */
export interface LearningItem {
  /** `LRN-` and 12 hex characters. */
  readonly id: string;
  readonly ticket_id: string;
  readonly title: string;
  readonly category: string;
  /** 0 to 100. */
  readonly score: number;
  readonly factors: readonly { readonly factor: string; readonly points: number }[];
  /** What the knowledge base gets when it is applied. */
  readonly passage: NewPassage;
  readonly state: "dropped" | "queued" | "applied";
  /** Of what was applied. */
  readonly receipt_id: string | null;
}

/** An item as it is kept. */
export interface LearningRecord extends LearningItem {
  /** Principal who applied it; null: the arbiter decided. */
  readonly decided_by: string | null;
  /** ISO 8601. */
  readonly made_at: string;
  /** Receipt of the ticket that it was learnt from; null: that has none. */
  readonly learned_from: string | null;
}

/** Keeps items; one whose ticket has one already stays as it is. */
export async function addLearningItems(
  on: Queryable,
  items: readonly LearningItem[],
): Promise<void> {
  if (items.length === 0) return;
  await on.raw(
    `INSERT INTO learning_items (id, ticket_id, title, category, score, factors, passage, state, receipt_id, applied_at)
     SELECT id, ticket_id, title, category, score, factors, passage, state, receipt_id,
       CASE WHEN state = 'applied' THEN now() END
     FROM jsonb_to_recordset(?::jsonb) AS i (id text, ticket_id text, title text, category text, score smallint,
       factors jsonb, passage jsonb, state text, receipt_id text)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(items)],
  );
}

const COLUMNS = `i.id, i.ticket_id, i.title, i.category, i.score, i.factors, i.passage, i.state,
  i.receipt_id, i.decided_by, to_json(i.made_at) AS made_at, t.receipt_id AS learned_from`;

/** What waits for people, the highest score first. */
export async function listQueuedLearningItems(on: Queryable, limit: number): Promise<LearningRecord[]> {
  const { rows } = await on.raw(
    `SELECT ${COLUMNS} FROM learning_items i LEFT JOIN tickets t ON t.id = i.ticket_id
     WHERE i.state = 'queued' ORDER BY i.score DESC, i.made_at, i.id LIMIT ?`,
    [limit],
  );
  return rows;
}

/** One item. */
export async function getLearningItem(
  on: Queryable,
  id: string,
): Promise<LearningRecord | undefined> {
  const { rows } = await on.raw(
    `SELECT ${COLUMNS} FROM learning_items i LEFT JOIN tickets t ON t.id = i.ticket_id WHERE i.id = ?`,
    [id],
  );
  return rows[0];
}

/** Marks an item that waits as applied. @returns whether it waited */
export async function applyLearningItem(
  on: Queryable,
  id: string,
  { principal, receiptId }: { readonly principal: string; readonly receiptId: string },
): Promise<boolean> {
  const changed = await on("learning_items").where({ id, state: "queued" }).update({
    ...{ state: "applied", decided_by: principal, receipt_id: receiptId },
    applied_at: on.fn.now(),
  });
  return changed === 1;
}

/** How learning goes, and what got better by it. Times are in seconds, and null where there is nothing to measure. */
export interface LearningMetrics {
  readonly items: { readonly dropped: number; readonly queued: number; readonly applied: number };
  readonly applied_by_people: number;
  readonly mean_score: number | null;
  readonly oldest_waiting_at: string | null;
  readonly past_incidents: number;
  /** Faults that came again after something was learnt of them, and how long they took then and before. */
  readonly recurring: {
    readonly faults: number;
    readonly median_seconds_before: number | null;
    readonly median_seconds_after: number | null;
  };
  /** Tickets whose diagnosis cited a past incident, and all others with a diagnosis; and how many were mended unasked. */
  readonly with_past_incident: MendingCounts;
  readonly without: MendingCounts;
  readonly by_week: readonly {
    readonly week: string;
    readonly made: number;
    readonly applied: number;
  }[];
}

/** Tickets that have ended, and those that the loop mended. */
export interface MendingCounts {
  readonly tickets: number;
  readonly mended: number;
}

/** Counts what is known of learning, over the last year. */
export async function getLearningMetrics(on: Queryable): Promise<LearningMetrics> {
  const { rows: [row] } = await on.raw<{ rows: { metrics: LearningMetrics }[] }>(`
    WITH recent AS (
      SELECT * FROM learning_items WHERE made_at > now() - interval '1 year'
    ), ended AS MATERIALIZED (
      SELECT t.id, t.fingerprint, t.opened_at, t.outcome,
        extract(epoch FROM t.resolved_at - t.opened_at)::float AS seconds,
        (SELECT bool_or(EXISTS (SELECT FROM knowledge k
           WHERE k.kind = 'incident' AND k.id = ANY (ARRAY(SELECT jsonb_array_elements_text(
             CASE jsonb_typeof(e.data -> 'citations') WHEN 'array' THEN e.data -> 'citations' ELSE '[]' END)))))
         FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'diagnosed') AS cites
      FROM tickets t WHERE t.outcome IS NOT NULL AND t.opened_at > now() - interval '1 year'
        AND coalesce(t.service, '') !~ '${DRILLS}'
    ), learnt AS (
      SELECT t.fingerprint, min(i.applied_at) AS at FROM learning_items i JOIN tickets t ON t.id = i.ticket_id
      WHERE i.state = 'applied' AND t.fingerprint IS NOT NULL GROUP BY 1
    ), again AS (
      SELECT e.fingerprint, e.seconds, e.opened_at > l.at AS after
      FROM ended e JOIN learnt l USING (fingerprint) WHERE e.seconds IS NOT NULL
    )
    SELECT json_build_object(
      'items', (SELECT json_build_object(
        'dropped', count(*) FILTER (WHERE state = 'dropped'),
        'queued', count(*) FILTER (WHERE state = 'queued'),
        'applied', count(*) FILTER (WHERE state = 'applied')) FROM recent),
      'applied_by_people', (SELECT count(*) FROM recent WHERE state = 'applied' AND decided_by IS NOT NULL),
      'mean_score', (SELECT round(avg(score), 1) FROM recent),
      'oldest_waiting_at', (SELECT min(made_at) FROM learning_items WHERE state = 'queued'),
      'past_incidents', (SELECT count(*) FROM knowledge WHERE kind = 'incident' AND current),
      'recurring', (SELECT json_build_object(
        'faults', count(DISTINCT fingerprint) FILTER (WHERE after),
        'median_seconds_before', percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE NOT after),
        'median_seconds_after', percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE after))
        FROM again WHERE fingerprint IN (SELECT fingerprint FROM again WHERE after)),
      'with_past_incident', (SELECT json_build_object(
        'tickets', count(*), 'mended', count(*) FILTER (WHERE outcome = 'sealed')) FROM ended WHERE cites),
      'without', (SELECT json_build_object(
        'tickets', count(*), 'mended', count(*) FILTER (WHERE outcome = 'sealed')) FROM ended WHERE NOT cites),
      'by_week', (SELECT coalesce(json_agg(w ORDER BY week), '[]') FROM (
        SELECT to_char(date_trunc('week', made_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS week,
          count(*) AS made, count(*) FILTER (WHERE state = 'applied') AS applied
        FROM recent WHERE made_at > now() - interval '26 weeks' GROUP BY 1) w)
    ) AS metrics`);
  return row!.metrics;
}

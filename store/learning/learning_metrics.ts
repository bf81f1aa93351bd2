import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** Figures about learning, and what it improved. Times are in seconds; null: there is nothing to measure. */
export interface LearningMetrics {
  readonly items: { readonly dropped: number; readonly queued: number; readonly applied: number };
  readonly applied_by_people: number;
  readonly mean_score: number | null;
  readonly oldest_waiting_at: string | null;
  readonly past_incidents: number;
  /** Faults that came again after something was learnt of them, and how long they took before and after that. */
  readonly recurring: {
    readonly faults: number;
    readonly median_seconds_before: number | null;
    readonly median_seconds_after: number | null;
  };
  /** Tickets whose diagnosis cited a past incident. */
  readonly with_past_incident: MendingCounts;
  /** All other tickets with a diagnosis. */
  readonly without: MendingCounts;
  readonly by_week: readonly {
    readonly week: string;
    readonly made: number;
    readonly applied: number;
  }[];
}

/** Counts of tickets that have ended, and of those that the loop mended. */
interface MendingCounts {
  readonly tickets: number;
  readonly mended: number;
}

/** Measures learning over the last year. Drills are left out. */
export async function getLearningMetrics(db: Db): Promise<LearningMetrics> {
  const row = await db.first<{ metrics: LearningMetrics }>(
    `WITH recent AS (
      SELECT * FROM learning_items WHERE made_at > now() - interval '1 year'
    ), ended AS MATERIALIZED (
      SELECT t.id, t.fingerprint, t.opened_at, t.outcome,
        extract(epoch FROM t.resolved_at - t.opened_at)::float AS seconds,
        (SELECT bool_or(EXISTS (SELECT FROM knowledge k
           WHERE k.kind = 'incident' AND k.id = ANY (ARRAY(SELECT jsonb_array_elements_text(
             CASE jsonb_typeof(e.data -> 'citations') WHEN 'array' THEN e.data -> 'citations' ELSE '[]' END)))))
         FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'diagnosed') AS cites
      FROM tickets t WHERE t.outcome IS NOT NULL AND t.opened_at > now() - interval '1 year'
        AND coalesce(t.service, '') !~ $1
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
    ) AS metrics`,
    [DRILL_SERVICE_PATTERN],
  );
  return row!.metrics;
}

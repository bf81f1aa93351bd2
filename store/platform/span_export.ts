/** The export of spans to a collector. */
import type { Db } from "../connection.ts";
import { type SpanRecord, toSpan } from "./spans.ts";

/** Notes that the collector has a reported span. */
export async function markSpanExported(
  db: Db,
  traceId: string,
  spanId: string,
): Promise<void> {
  await db.execute("UPDATE spans SET exported = true WHERE trace_id = $1 AND span_id = $2", [
    traceId,
    spanId,
  ]);
}

/** State of the export of spans. */
export interface SpanExport {
  readonly spans: number;
  readonly lastOkAt: Date | null;
  /** Null: it works. */
  readonly lastError: string | null;
}

/** Returns the state of the export. */
export async function getSpanExport(db: Db): Promise<SpanExport> {
  const row = await db.first("SELECT spans, last_ok_at, last_error FROM span_export");
  return { spans: Number(row!.spans), lastOkAt: row!.last_ok_at, lastError: row!.last_error };
}

/**
 * Hands the oldest spans that are not exported to `send`, and notes how that went. One process does so at a time. A span is
 * handed out 5 seconds after it was stored, by PostgreSQL's clock, when all of its time are committed. A collector that was
 * away for more than a day does not get what is older.
 *
 * @param send returns how many were refused for good. If it throws, its message is noted, for everybody to read, and the
 * same spans are handed out again
 * @returns how many were sent
 */
export async function exportSpans(
  db: Db,
  most: number,
  send: (spans: readonly SpanRecord[]) => Promise<number>,
): Promise<number> {
  return await db.transaction(async (trx) => {
    const row = await trx.first<{ after: string; through: string }>(
      `SELECT greatest(exported_through, now() - interval '1 day')::text AS after,
         (now() - interval '5 seconds')::text AS through
       FROM span_export FOR UPDATE SKIP LOCKED`,
    );
    if (!row || row.after >= row.through) return 0;
    const rows = await trx.query(
      "SELECT *, stored_at::text AS stored_text FROM spans_to_export($1, $2, $3) ORDER BY stored_at",
      [row.after, row.through, most],
    );
    const spans = rows.map(toSpan);
    let refused = 0;
    try {
      if (spans.length > 0) refused = await send(spans);
    } catch (error) {
      await trx.execute("UPDATE span_export SET last_error = $1, last_error_at = now()", [
        (error as Error).message,
      ]);
      return 0;
    }
    const error = refused > 0 ? `The collector refused ${refused} of ${spans.length} spans` : null;
    await trx.execute(
      `UPDATE span_export SET exported_through = $1::timestamptz, spans = spans + $2::int - $3::int,
         last_ok_at = CASE WHEN $2 > $3 THEN now() ELSE last_ok_at END,
         last_error = CASE WHEN $2 > 0 THEN $4 ELSE last_error END,
         last_error_at = CASE WHEN $3 > 0 THEN now() ELSE last_error_at END`,
      [
        spans.length < most ? row.through : rows.at(-1)!.stored_text,
        spans.length,
        refused,
        error,
      ],
    );
    return spans.length;
  });
}

/** Busy time of calendars. */
import type { Db } from "../connection.ts";
import type { Span } from "./calendar.ts";

/** Busy time that another booking wants. */
export interface BusySpan extends Span {
  readonly eventId: string;
  readonly title: string;
}

/** First half of the advisory locks of calendars. */
const LOCK = 7_365_622;
/** Conflicts that are told. */
const MAX_CONFLICTS = 20;

/**
 * Locks a calendar until the transaction ends, so that bookings of one time come one after the other. Without the lock the
 * database would still refuse all but one, and some by a deadlock.
 *
 * @returns the time by the database's clock
 */
export async function lockCalendar(trx: Db, calendar: string): Promise<Date> {
  const row = await trx.first<{ now: Date }>(
    "SELECT pg_advisory_xact_lock($1, hashtext($2)), clock_timestamp() AS now",
    [LOCK, `${trx.tenant} ${calendar}`],
  );
  return row!.now;
}

/** Returns busy time of a calendar that overlaps any of these spans, in order. */
export async function findBusySpans(
  db: Db,
  calendar: string,
  spans: readonly Span[],
): Promise<BusySpan[]> {
  const rows = await db.query(
    `SELECT DISTINCT e.id, e.title, o.starts_at, o.ends_at
     FROM unnest($2::timestamptz[], $3::timestamptz[]) AS wanted (starts_at, ends_at)
     JOIN calendar_occurrences o ON o.busy AND o.calendar = $1
       AND o.starts_at < wanted.ends_at AND o.ends_at > wanted.starts_at
     JOIN calendar_events e ON e.id = o.event_id
     ORDER BY o.starts_at LIMIT $4`,
    [calendar, spans.map(({ start }) => start), spans.map(({ end }) => end), MAX_CONFLICTS],
  );
  return rows.map(({ id, title, starts_at, ends_at }) => ({
    eventId: id,
    title,
    start: starts_at,
    end: ends_at,
  }));
}

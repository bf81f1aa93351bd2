/** Events of calendars. An event is stored with its occurrences, which is what takes time. */
import type { Db, Row } from "../connection.ts";

/** Kinds of events. Freezes and maintenance windows are the operator's. */
export const EVENT_KINDS = ["meeting", "freeze", "maintenance"] as const;

/** Kind of an event. */
export type EventKind = typeof EVENT_KINDS[number];

/** A span of time. Its end is not part of it. */
export interface Span {
  readonly start: Date;
  readonly end: Date;
}

/** An event to store. */
export interface NewEvent extends Span {
  /** `EVT-` and 12 hex characters. */
  readonly id: string;
  /** Identifier in iCalendar. */
  readonly uid: string;
  readonly title: string;
  readonly kind: EventKind;
  readonly calendar: string;
  /** IANA name of the time zone whose wall clock the rule is about. */
  readonly timeZone: string;
  /** Rule of RFC 5545; null: it takes place once. */
  readonly rrule: string | null;
  readonly location: string;
  /** E-mail addresses. */
  readonly attendees: readonly string[];
  /** Services whose repairs a maintenance window holds back; empty: all. */
  readonly services: readonly string[];
  readonly contactId: string | null;
  /** True where its time is exclusive. */
  readonly busy: boolean;
  /** `key:<id>`, or a part of the platform. */
  readonly createdBy: string;
  /** Time up to which its occurrences are stored; null: all are. */
  readonly expandedUntil: Date | null;
}

/** A stored event. `start` and `end` are those of its first occurrence. */
export interface EventRecord extends NewEvent {
  /** Number in iCalendar, which grows with each change. */
  readonly sequence: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly cancelledAt: Date | null;
  /** Starts of occurrences that were left out, as their time was taken. */
  readonly skipped: readonly Date[];
}

const EVENT_COLUMNS =
  `e.id, e.uid, e.sequence, e.title, e.kind, e.calendar, e.starts_at, e.ends_at, e.time_zone, e.rrule,
  e.location, e.attendees, e.services, e.contact_id, e.busy, e.created_by, e.created_at, e.updated_at, e.cancelled_at,
  e.skipped, e.expanded_until`;

/** Stores an event with its occurrences. Fails where its busy time is taken. */
export async function putEvent(
  trx: Db,
  event: NewEvent,
  occurrences: readonly Span[],
): Promise<EventRecord> {
  const row = await trx.first(
    `INSERT INTO calendar_events AS e (id, uid, title, kind, calendar, starts_at, ends_at, time_zone, rrule, location,
       attendees, services, contact_id, busy, created_by, expanded_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING ${EVENT_COLUMNS}`,
    [
      event.id,
      event.uid,
      event.title,
      event.kind,
      event.calendar,
      event.start,
      event.end,
      event.timeZone,
      event.rrule,
      event.location,
      JSON.stringify(event.attendees),
      event.services,
      event.contactId,
      event.busy,
      event.createdBy,
      event.expandedUntil,
    ],
  );
  await putOccurrences(trx, event, occurrences);
  return toEvent(row!);
}

/** Stores further occurrences of an event. Fails where its busy time is taken. */
export async function putOccurrences(
  trx: Db,
  { id, kind, calendar, busy }: Pick<NewEvent, "id" | "kind" | "calendar" | "busy">,
  occurrences: readonly Span[],
): Promise<void> {
  await trx.execute(
    `INSERT INTO calendar_occurrences (event_id, starts_at, ends_at, kind, calendar, busy)
     SELECT $1, starts_at, ends_at, $2, $3, $4 FROM unnest($5::timestamptz[], $6::timestamptz[]) AS o (starts_at, ends_at)`,
    [
      id,
      kind,
      calendar,
      busy,
      occurrences.map(({ start }) => start),
      occurrences.map(({ end }) => end),
    ],
  );
}

/** Returns an event, a cancelled one too; or undefined. */
export async function getEvent(db: Db, id: string): Promise<EventRecord | undefined> {
  const row = await db.first(`SELECT ${EVENT_COLUMNS} FROM calendar_events e WHERE id = $1`, [id]);
  return row && toEvent(row);
}

/** Cancels an event: its time is free, and it stays as a record. @returns it, or undefined: there is none to cancel */
export async function cancelEvent(trx: Db, id: string): Promise<EventRecord | undefined> {
  const row = await trx.first(
    `UPDATE calendar_events AS e SET cancelled_at = now(), updated_at = now(), sequence = sequence + 1
     WHERE id = $1 AND cancelled_at IS NULL RETURNING ${EVENT_COLUMNS}`,
    [id],
  );
  if (!row) return undefined;
  await trx.execute("DELETE FROM calendar_occurrences WHERE event_id = $1", [id]);
  return toEvent(row);
}

/** Returns occurrences that overlap a span, in order, each as its event with its own start and end; and how many there are. */
export async function listOccurrences(
  db: Db,
  { start, end }: Span,
  { calendar, limit }: { readonly calendar?: string | undefined; readonly limit: number },
): Promise<{ readonly total: number; readonly events: EventRecord[] }> {
  const rows = await db.query(
    `SELECT count(*) OVER ()::int AS total, ${EVENT_COLUMNS}, o.starts_at AS begins_at, o.ends_at AS finishes_at
     FROM calendar_occurrences o JOIN calendar_events e ON e.id = o.event_id
     WHERE o.starts_at < $2 AND o.ends_at > $1 AND ($3::text IS NULL OR o.calendar = $3)
     ORDER BY o.starts_at, e.id LIMIT $4`,
    [start, end, calendar, limit],
  );
  const events = rows.map((row) => ({
    ...toEvent(row),
    start: row.begins_at,
    end: row.finishes_at,
  }));
  return { total: rows[0]?.total ?? 0, events };
}

/**
 * Returns events that take place after a moment, and those that were cancelled since, in the order in which they were booked.
 * `start` and `end` are those of the first occurrence.
 */
export async function listEventsSince(
  db: Db,
  moment: Date,
  limit: number,
): Promise<EventRecord[]> {
  const rows = await db.query(
    `SELECT ${EVENT_COLUMNS} FROM calendar_events e
     WHERE e.cancelled_at > $1 OR e.cancelled_at IS NULL AND EXISTS (
       SELECT FROM calendar_occurrences o WHERE o.event_id = e.id AND o.ends_at > $1)
     ORDER BY e.created_at DESC, e.id LIMIT $2`,
    [moment, limit],
  );
  return rows.map(toEvent);
}

/** Returns events whose occurrences are stored up to a time before this one, and go on. */
export async function listEventsToExtend(
  db: Db,
  before: Date,
  limit: number,
): Promise<EventRecord[]> {
  const rows = await db.query(
    `SELECT ${EVENT_COLUMNS} FROM calendar_events e
     WHERE e.expanded_until < $1 AND e.cancelled_at IS NULL ORDER BY e.expanded_until LIMIT $2`,
    [before, limit],
  );
  return rows.map(toEvent);
}

/** Records up to when an event's occurrences are stored, and which were left out. */
export async function recordExtension(
  trx: Db,
  id: string,
  expandedUntil: Date | null,
  skipped: readonly Date[],
): Promise<void> {
  await trx.execute(
    `UPDATE calendar_events SET expanded_until = $2, skipped = skipped || $3::timestamptz[],
       sequence = sequence + (cardinality($3::timestamptz[]) > 0)::int,
       updated_at = CASE WHEN cardinality($3::timestamptz[]) > 0 THEN now() ELSE updated_at END
     WHERE id = $1`,
    [id, expandedUntil, skipped],
  );
}

function toEvent(row: Row): EventRecord {
  return {
    id: row.id,
    uid: row.uid,
    sequence: row.sequence,
    title: row.title,
    kind: row.kind,
    calendar: row.calendar,
    start: row.starts_at,
    end: row.ends_at,
    timeZone: row.time_zone,
    rrule: row.rrule,
    location: row.location,
    attendees: row.attendees,
    services: row.services,
    contactId: row.contact_id,
    busy: row.busy,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    cancelledAt: row.cancelled_at,
    skipped: row.skipped,
    expandedUntil: row.expanded_until,
  };
}

/** Events of calendars. An event is stored with its occurrences, which is what takes time. */
import type { Db, Row } from "./connection.ts";

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
  /** Of iCalendar. */
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
  /** Of iCalendar: grows with each change. */
  readonly sequence: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly cancelledAt: Date | null;
  /** Starts of occurrences that were left out, as their time was taken. */
  readonly skipped: readonly Date[];
}

/** Busy time that another booking wants. */
export interface BusySpan extends Span {
  readonly eventId: string;
  readonly title: string;
}

const EVENT_COLUMNS =
  `e.id, e.uid, e.sequence, e.title, e.kind, e.calendar, e.starts_at, e.ends_at, e.time_zone, e.rrule,
  e.location, e.attendees, e.services, e.contact_id, e.busy, e.created_by, e.created_at, e.updated_at, e.cancelled_at,
  e.skipped, e.expanded_until`;

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

/** Returns how often a key's link to its calendar was renewed. */
export async function getLinkGeneration(db: Db, keyId: string): Promise<number> {
  const row = await db.first("SELECT generation FROM calendar_links WHERE key_id = $1", [keyId]);
  return row?.generation ?? 0;
}

/** Renews a key's link to its calendar: from now on the one before is nobody's. */
export async function renewLink(db: Db, keyId: string): Promise<void> {
  await db.execute(
    `INSERT INTO calendar_links AS l (key_id, generation) VALUES ($1, 1)
     ON CONFLICT (tenant_id, key_id) DO UPDATE SET generation = l.generation + 1, renewed_at = now()`,
    [keyId],
  );
}

/** A change freeze that holds now, by the database's clock. */
export interface Freeze {
  /** Event of the calendar; null: the guardrails' policy states it. */
  readonly eventId: string | null;
  /** In words. */
  readonly reason: string;
  readonly end: Date;
}

/** A maintenance window that holds back repairs now, by the database's clock. */
export interface Maintenance extends Span {
  readonly eventId: string;
  /** In words. */
  readonly reason: string;
}

/** Returns the change freezes that hold now, those of the guardrails' policy and of the calendar, the one that ends last first. */
export async function listActiveFreezes(db: Db): Promise<Freeze[]> {
  const rows = await db.query("SELECT event_id, reason, ends_at FROM active_freezes()");
  return rows.map(({ event_id, reason, ends_at }) => ({ eventId: event_id, reason, end: ends_at }));
}

/** Returns the maintenance window that holds back repairs of a service now, or undefined. */
export async function findMaintenance(
  db: Db,
  service: string,
): Promise<Maintenance | undefined> {
  const row = await db.first("SELECT * FROM active_maintenance($1)", [service]);
  return row &&
    { eventId: row.event_id, reason: row.reason, start: row.starts_at, end: row.ends_at };
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

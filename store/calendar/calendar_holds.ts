/** Freezes and maintenance windows that hold now. */
import type { Db } from "../connection.ts";
import type { Span } from "./calendar.ts";

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

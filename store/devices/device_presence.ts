/** Presence of devices: when they were heard from last. */
import type { Db } from "../connection.ts";
import { ROLES } from "../roles.ts";

/** Statuses of a device: heard from or not, or quarantined. */
export const DEVICE_STATUSES = ["online", "late", "offline", "quarantined"] as const;

/** Status of a device. */
export type DeviceStatus = typeof DEVICE_STATUSES[number];

/** A device as it was heard from last. */
export interface DevicePresence {
  readonly id: string;
  readonly status: DeviceStatus;
  /** Null: never. */
  readonly lastSeenAt: Date | null;
}

/** Seconds within which the next heartbeat comes: a minute, varied by a fifth, and its way. */
const BEAT_SECONDS = 75;
/** A device that has missed so many is offline. */
const MISSED_BEATS = 3;
/** A look at the gateways that is older than this says nothing of the time since. */
const MAX_LOOK_SECONDS = 150;

/**
 * Notes whether a gateway is at work: while there is none, no device can miss a heartbeat. Called once a minute.
 *
 * @returns since when there is one without a gap; undefined: there is none
 */
export async function watchGateways(db: Db): Promise<Date | undefined> {
  const row = await db.first<{ up_since: Date | null }>(
    `INSERT INTO gateway_watch AS w (up_since, looked_at)
     SELECT CASE WHEN EXISTS (
       SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = $1) THEN now() END, now()
     ON CONFLICT (one) DO UPDATE SET
       up_since = CASE
         WHEN excluded.up_since IS NULL OR w.looked_at < now() - $2 * interval '1 second' THEN excluded.up_since
         ELSE coalesce(w.up_since, excluded.up_since) END,
       looked_at = excluded.looked_at
     RETURNING up_since`,
    [ROLES.gateway, MAX_LOOK_SECONDS],
  );
  return row!.up_since ?? undefined;
}

/**
 * Marks devices as offline that have missed three heartbeats while a gateway was at work.
 *
 * @returns those that were online before
 */
export async function markOffline(trx: Db): Promise<{ id: string; name: string }[]> {
  return await trx.query(
    `WITH silent AS (
       SELECT s.device_id, s.online_since IS NOT NULL AS was_online
       FROM device_states s CROSS JOIN gateway_watch w
       WHERE (s.online_since IS NOT NULL OR s.returned > 0)
         AND greatest(s.last_seen_at, w.up_since) < now() - $1 * interval '1 second' AND w.up_since IS NOT NULL
       FOR UPDATE OF s
     ), marked AS (
       UPDATE device_states s SET online_since = NULL, returned = 0
       FROM silent WHERE s.device_id = silent.device_id
     )
     SELECT d.id, d.name FROM silent JOIN devices d ON d.id = silent.device_id
     WHERE silent.was_online ORDER BY d.name, d.id`,
    [BEAT_SECONDS * MISSED_BEATS],
  );
}

/** Returns how devices were heard from last. @param id of one device; default: all, the last enrolled first */
export async function listPresence(db: Db, id?: string): Promise<DevicePresence[]> {
  const rows = await db.query(
    `SELECT d.id, s.last_seen_at, CASE
       WHEN d.status = 'quarantined' THEN 'quarantined'
       WHEN s.online_since IS NULL THEN 'offline'
       WHEN greatest(s.last_seen_at, coalesce(w.up_since, now())) < now() - $1 * interval '1 second' THEN 'late'
       ELSE 'online' END AS status
     FROM devices d LEFT JOIN device_states s ON s.device_id = d.id LEFT JOIN gateway_watch w ON true
     WHERE $2::text IS NULL OR d.id = $2
     ORDER BY d.enrolled_at DESC, d.id`,
    [BEAT_SECONDS, id ?? null],
  );
  return rows.map((row) => ({ id: row.id, status: row.status, lastSeenAt: row.last_seen_at }));
}

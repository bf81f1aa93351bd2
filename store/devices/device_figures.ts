/** Figures about devices, and the devices of the service graph. */
import type { Db } from "../connection.ts";
import { type DeviceStatus, listPresence } from "./device_presence.ts";

/** Figures about the devices of a tenant. */
export interface DeviceFigures {
  readonly by_status: Readonly<Record<DeviceStatus, number>>;
  /** Ages of the newest heartbeats of devices that are not offline; null: there are none. */
  readonly heartbeat_age_seconds: { readonly median: number; readonly oldest: number } | null;
  /** Devices with a file system that has less than a tenth free, by their newest inventory. */
  readonly low_on_disk: number;
  /** Commands that were asked for within a day, by status. */
  readonly commands_24h: Readonly<Record<string, number>>;
}

/** Measures the devices of a tenant. */
export async function getDeviceFigures(db: Db): Promise<DeviceFigures> {
  const [presence, low, commands] = await Promise.all([
    listPresence(db),
    db.first<{ count: number }>(
      // Silent: a device may report what is no number, and then counts as one that does not tell.
      `SELECT count(*)::int AS count FROM device_inventories
       WHERE section = 'disks' AND jsonb_path_exists(content::jsonb,
         '$[*] ? (@.size_bytes > 0 && @.free_bytes * 10 < @.size_bytes)', silent => true)`,
    ),
    db.query<{ status: string; count: number }>(
      `SELECT status, count(*)::int AS count FROM device_commands
       WHERE created_at > now() - interval '1 day' GROUP BY 1 ORDER BY 1`,
    ),
  ]);
  const by_status = { online: 0, late: 0, offline: 0, quarantined: 0 };
  for (const { status } of presence) by_status[status]++;
  const ages = presence.filter(({ status, lastSeenAt }) => status !== "offline" && lastSeenAt)
    .map(({ lastSeenAt }) => Math.max(0, Math.round((Date.now() - lastSeenAt!.getTime()) / 1000)))
    .sort((a, b) => a - b);
  return {
    by_status,
    heartbeat_age_seconds: ages.length === 0
      ? null
      : { median: ages[Math.floor(ages.length / 2)]!, oldest: ages.at(-1)! },
    low_on_disk: low!.count,
    commands_24h: Object.fromEntries(commands.map(({ status, count }) => [status, count])),
  };
}

/** A device among the services. */
export interface GraphDevice {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
  readonly status: DeviceStatus;
  readonly addresses: readonly string[];
  /** Services whose host it is, by its name or an address. */
  readonly services: readonly string[];
}

/** Finds devices by a part of their id, name or address, in any case, and by status. @param text default: all */
export async function findGraphDevices(
  db: Db,
  { text, status }: { readonly text?: string | undefined; readonly status?: string | undefined },
): Promise<GraphDevice[]> {
  const [presence, rows] = await Promise.all([
    listPresence(db),
    db.query(
      `WITH known AS (
         SELECT d.id, d.name, d.platform, ARRAY(
           SELECT jsonb_path_query(i.content::jsonb, '$[*].addresses[*] ? (@.type() == "string")') #>> '{}'
           FROM device_inventories i WHERE i.device_id = d.id AND i.section = 'interfaces') AS addresses
         FROM devices d
       )
       SELECT k.*, ARRAY(
         SELECT s.name FROM services s
         WHERE s.host = k.name OR s.host = ANY (k.addresses) AND s.host NOT LIKE '127.%' AND s.host <> '::1'
         ORDER BY s.name) AS services
       FROM known k
       WHERE $1::text IS NULL OR position(lower($1) IN lower(k.name)) > 0 OR position(lower($1) IN lower(k.id)) > 0
         OR EXISTS (SELECT FROM unnest(k.addresses) AS a WHERE position(lower($1) IN lower(a)) > 0)
       ORDER BY k.name, k.id`,
      [text ?? null],
    ),
  ]);
  const statuses = new Map(presence.map((one) => [one.id, one.status]));
  return rows.map((row): GraphDevice => ({
    id: row.id,
    name: row.name,
    platform: row.platform,
    status: statuses.get(row.id) ?? "offline",
    addresses: row.addresses,
    services: row.services,
  })).filter((device) => status === undefined || device.status === status);
}

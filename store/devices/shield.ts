/** Facts about devices for the shield. */
import type { Db, Row } from "../connection.ts";

/** A device with the facts that it reported last. */
export interface DeviceFactsRecord {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
  readonly status: "active" | "quarantined";
  /** Null: no heartbeat was received. */
  readonly lastSeenAt: Date | null;
  /** Sections of the inventory by name. */
  readonly inventory: Readonly<Record<string, unknown>>;
  /** As the last heartbeat that told had it; null: none did. */
  readonly firewall: unknown;
}

/** Sections that checks and resources need. */
const SECTIONS = ["agent", "disks", "interfaces", "listeners", "memory", "os", "posture"];

/** Lists devices with their facts, oldest enrolment first. @param id of one device; default: all */
export async function listDeviceFacts(db: Db, id?: string): Promise<DeviceFactsRecord[]> {
  const rows = await db.query(
    `SELECT d.id, d.name, d.platform, d.status, s.last_seen_at, s.firewall,
       (SELECT json_object_agg(i.section, i.content::json) FROM device_inventories i
        WHERE i.device_id = d.id AND i.section = ANY ($2::text[])) AS inventory
     FROM devices d LEFT JOIN device_states s ON s.device_id = d.id
     WHERE $1::text IS NULL OR d.id = $1
     ORDER BY d.enrolled_at, d.id`,
    [id ?? null, SECTIONS],
  );
  return rows.map(toFacts);
}

/** A device with the network interfaces that it reported last. */
export interface DeviceInterfaces {
  readonly id: string;
  readonly name: string;
  /** Null: it has not told. */
  readonly interfaces: unknown;
}

/** Lists devices with their network interfaces, oldest enrolment first. */
export async function listDeviceInterfaces(db: Db): Promise<DeviceInterfaces[]> {
  return await db.query(
    `SELECT d.id, d.name, i.content::json AS interfaces
     FROM devices d LEFT JOIN device_inventories i ON i.device_id = d.id AND i.section = 'interfaces'
     ORDER BY d.enrolled_at, d.id`,
  );
}

/** Finds devices by the addresses of their interfaces, loopback left out. @returns ids by address */
export async function findDevicesByAddress(
  db: Db,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ address: string; device_id: string }>(
    `SELECT a.address, min(i.device_id) AS device_id
     FROM device_inventories i, json_array_elements(
         CASE WHEN json_typeof(i.content::json) = 'array' THEN i.content::json ELSE '[]' END
       ) AS interface, json_array_elements_text(
         CASE WHEN json_typeof(interface -> 'addresses') = 'array' THEN interface -> 'addresses' ELSE '[]' END
       ) AS a (address)
     WHERE i.section = 'interfaces' AND a.address = ANY ($1::text[])
       AND a.address NOT LIKE '127.%' AND a.address <> '::1'
     GROUP BY a.address`,
    [addresses],
  );
  return new Map(rows.map(({ address, device_id }) => [address, device_id]));
}

/** A device's measurement of the ways to others. */
export interface MeshMeasurement {
  readonly deviceId: string;
  /** As its agent printed it: JSON. */
  readonly output: string;
  readonly measuredAt: Date;
}

/** Devices whose measurements are looked at. */
const MAX_MEASUREMENTS = 1_000;

/** Returns the newest measurement of each device, the newest first. @param script that measures */
export async function listMeshMeasurements(db: Db, script: string): Promise<MeshMeasurement[]> {
  const rows = await db.query(
    `SELECT d.id AS device_id, newest.output, newest.ended_at
     FROM devices d, LATERAL (
       SELECT output, ended_at FROM device_commands c
       WHERE c.tenant_id = d.tenant_id AND c.device_id = d.id AND c.script_id = $1 AND c.status = 'done'
         AND c.output IS NOT NULL
       ORDER BY c.ended_at DESC LIMIT 1) AS newest
     ORDER BY newest.ended_at DESC LIMIT $2`,
    [script, MAX_MEASUREMENTS],
  );
  return rows.map((row) => ({
    deviceId: row.device_id,
    output: row.output.toString(),
    measuredAt: row.ended_at,
  }));
}

/**
 * Lists devices that are online and were asked for no measurement within some hours.
 *
 * @param script that measures
 */
export async function listDevicesToMeasure(
  db: Db,
  script: string,
  hours: number,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT d.id FROM devices d JOIN device_states s ON s.device_id = d.id
     WHERE d.status = 'active' AND s.online_since IS NOT NULL AND NOT EXISTS (
       SELECT FROM device_commands c WHERE c.device_id = d.id AND c.script_id = $1
         AND c.created_at > now() - make_interval(hours => $2))
     ORDER BY d.id LIMIT $3`,
    [script, hours, limit],
  );
  return rows.map(({ id }) => id);
}

function toFacts(row: Row): DeviceFactsRecord {
  return {
    id: row.id,
    name: row.name,
    platform: row.platform,
    status: row.status,
    lastSeenAt: row.last_seen_at,
    inventory: row.inventory ?? {},
    firewall: row.firewall,
  };
}

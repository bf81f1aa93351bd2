/** The newest heartbeats of all devices, as they are sealed together. */
import { type Db, inTenant } from "../connection.ts";

/** The newest heartbeat of a device. */
export interface SeenDevice {
  readonly tenant: string;
  readonly deviceId: string;
  readonly counter: number;
  readonly seenAt: Date;
}

/** A tenant's part of a batch. */
export interface HeartbeatBatch {
  readonly receiptId: string;
  readonly endedAt: Date;
  /** Canonical JSON: the newest heartbeat of each device, in the order of the tree. */
  readonly heartbeats: string;
  readonly salt: Buffer;
  /** Place of the tenant among all, from 0. */
  readonly place: number;
  readonly places: number;
  /** Hashes from the tenant's salted root to the sealed one. */
  readonly proof: readonly Buffer[];
}

/** Days for which batches are kept. */
const KEPT_DAYS = 90;

/** Lists the devices of all tenants that were heard from since a time, by tenant. @returns with them, until when */
export async function listSeenDevices(
  db: Db,
  since: Date,
): Promise<{ readonly seen: SeenDevice[]; readonly until: Date }> {
  const rows = await db.query(
    "SELECT *, now() AS until FROM heartbeats_since($1) ORDER BY tenant_id, device_id",
    [since],
  );
  const seen = rows.map((row) => ({
    tenant: row.tenant_id,
    deviceId: row.device_id,
    counter: Number(row.counter),
    seenAt: row.last_seen_at,
  }));
  return { seen, until: rows[0]?.until ?? since };
}

/** Keeps a tenant's part of a batch, and forgets those that are old. */
export async function addHeartbeatBatch(
  trx: Db,
  tenant: string,
  { receiptId, endedAt, heartbeats, salt, place, places, proof }: HeartbeatBatch,
): Promise<void> {
  await inTenant(trx, tenant, async (own) => {
    await own.execute(
      `INSERT INTO heartbeat_batches (receipt_id, ended_at, heartbeats, salt, place, places, proof)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [receiptId, endedAt, heartbeats, salt, place, places, proof],
    );
    await own.execute(
      "DELETE FROM heartbeat_batches WHERE ended_at < now() - $1 * interval '1 day'",
      [KEPT_DAYS],
    );
  });
}

/** Returns a tenant's newest batch that has a device, or undefined. @param before a time; default: now */
export async function findHeartbeatBatch(
  db: Db,
  deviceId: string,
  before: Date = new Date(),
): Promise<HeartbeatBatch | undefined> {
  const row = await db.first(
    `SELECT * FROM heartbeat_batches WHERE ended_at <= $2 AND position($1 IN heartbeats) > 0
     ORDER BY ended_at DESC LIMIT 1`,
    [deviceId, before],
  );
  return row && {
    receiptId: row.receipt_id,
    endedAt: row.ended_at,
    heartbeats: row.heartbeats,
    salt: row.salt,
    place: row.place,
    places: row.places,
    proof: row.proof,
  };
}

/** Returns the receipt of a tenant's newest batch; undefined: none was sealed. */
export async function getNewestBatchReceipt(db: Db): Promise<string | undefined> {
  const row = await db.first(
    "SELECT receipt_id FROM heartbeat_batches ORDER BY ended_at DESC LIMIT 1",
  );
  return row?.receipt_id;
}

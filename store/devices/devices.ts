import type { Db, Row } from "../connection.ts";
import { resetHeartbeats } from "./heartbeats.ts";

/** A machine that is enrolled. */
export interface DeviceRecord {
  /** `DEV-` and the first 12 hex of its public key's SHA-256; unique over all tenants. */
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly platform: string;
  /** Ed25519, 64 hex: signs its requests. */
  readonly publicKey: string;
  /** Ed25519, 64 hex: signs its statements about commands. */
  readonly runnerKey: string;
  readonly status: "active" | "quarantined";
  /** Why it is quarantined; null: it is not. */
  readonly quarantine: string | null;
  readonly enrolledAt: Date;
  /** The device whose place it takes, as that one's key was lost. */
  readonly replaces: string | null;
  /** Receipt of the enrolment. */
  readonly receiptId: string;
  /** Version of the approvers that are pinned on it; 0: none are. */
  readonly approversVersion: number;
  /** The newest version of the approvers when it refused one; null: it has refused none. */
  readonly approversRefused: number | null;
}

/** A device to add. */
export type NewDevice =
  & Pick<DeviceRecord, "id" | "name" | "platform" | "publicKey" | "runnerKey" | "receiptId">
  & {
    /** Default: 0. */
    readonly approversVersion?: number;
    /** Answer to its enrolment. */
    readonly enrolment: unknown;
  };

/** Returns a device of any tenant, for authentication alone; undefined where there is none. */
export async function findDevice(db: Db, id: string): Promise<DeviceRecord | undefined> {
  const row = await db.first({ name: "find-device", text: "SELECT * FROM find_device($1)" }, [id]);
  return row && toDevice(row);
}

/** Returns a device, or undefined. */
export async function getDevice(db: Db, id: string): Promise<DeviceRecord | undefined> {
  const row = await db.first("SELECT * FROM devices WHERE id = $1", [id]);
  return row && toDevice(row);
}

/** Lists devices, those that were enrolled last first. @param limit default: all */
export async function listDevices(
  db: Db,
  { limit }: { readonly limit?: number } = {},
): Promise<DeviceRecord[]> {
  const rows = await db.query(
    "SELECT * FROM devices ORDER BY enrolled_at DESC, id LIMIT $1",
    [limit ?? null],
  );
  return rows.map(toDevice);
}

/**
 * Adds a device of the tenant of `trx`.
 *
 * @returns false where there is one with this id, whoever's it is
 */
export async function addDevice(trx: Db, device: NewDevice): Promise<boolean> {
  const { id, name, platform, publicKey, runnerKey, receiptId, enrolment } = device;
  const added = await trx.execute(
    `INSERT INTO devices (id, name, platform, public_key, runner_key, receipt_id, approvers_version, enrolment)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [
      id,
      name,
      platform,
      publicKey,
      runnerKey,
      receiptId,
      device.approversVersion ?? 0,
      JSON.stringify(enrolment),
    ],
  );
  return added === 1;
}

/** The use of an enrolment code. */
export interface UsedCode {
  readonly deviceId: string;
  readonly runnerKey: string;
  /** Answer to the enrolment. */
  readonly enrolment: unknown;
}

/** Returns what a code was used for; undefined: nothing yet. */
export async function findEnrolment(db: Db, nonce: string): Promise<UsedCode | undefined> {
  const row = await db.first(
    `SELECT d.id, d.runner_key, d.enrolment
     FROM used_enrolment_codes c JOIN devices d ON d.id = c.device_id WHERE c.nonce = $1`,
    [nonce],
  );
  return row && { deviceId: row.id, runnerKey: row.runner_key, enrolment: row.enrolment };
}

/** Notes that a device has used a code. @returns false where one has before */
export async function useEnrolmentCode(
  trx: Db,
  nonce: string,
  deviceId: string,
): Promise<boolean> {
  const used = await trx.execute(
    "INSERT INTO used_enrolment_codes (nonce, device_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    [nonce, deviceId],
  );
  return used === 1;
}

/** Replaces the answer to the enrolment of a device that enrols again with another code, and pins anew. */
export async function renewEnrolment(
  trx: Db,
  { id, approversVersion = 0, enrolment }: Pick<NewDevice, "id" | "approversVersion" | "enrolment">,
): Promise<void> {
  await trx.execute(
    "UPDATE devices SET enrolment = $2, approvers_version = $3, approvers_refused = NULL WHERE id = $1",
    [id, JSON.stringify(enrolment), approversVersion],
  );
}

/** Notes which version of the approvers is pinned on a device, as it says. */
export async function noteApprovers(trx: Db, id: string, version: number): Promise<void> {
  await trx.execute(
    "UPDATE devices SET approvers_version = $2, approvers_refused = NULL WHERE id = $1",
    [id, version],
  );
}

/** Notes that a device has refused other approvers. */
export async function noteApproversRefused(trx: Db, id: string): Promise<void> {
  await trx.execute(
    "UPDATE devices SET approvers_refused = (SELECT max(version) FROM tenant_approvers) WHERE id = $1",
    [id],
  );
}

/**
 * Quarantines a device: it is given no commands until a person decides.
 *
 * @param reason a word or two with underscores
 * @returns false where there is none, or it is quarantined already
 */
export async function quarantineDevice(trx: Db, id: string, reason: string): Promise<boolean> {
  const changed = await trx.execute(
    "UPDATE devices SET status = 'quarantined', quarantine = $2 WHERE id = $1 AND status = 'active'",
    [id, reason],
  );
  return changed === 1;
}

/** Notes that a device takes the place of another one. @returns false where it does already */
export async function setReplaced(trx: Db, id: string, replaces: string): Promise<boolean> {
  const changed = await trx.execute(
    "UPDATE devices SET replaces = $2 WHERE id = $1 AND replaces IS DISTINCT FROM $2",
    [id, replaces],
  );
  return changed === 1;
}

/**
 * Ends a quarantine. Counter and journal of the heartbeats so far are forgotten, so that the next one says them anew.
 *
 * @returns false where there is none
 */
export async function releaseDevice(trx: Db, id: string): Promise<boolean> {
  const changed = await trx.execute(
    "UPDATE devices SET status = 'active', quarantine = NULL WHERE id = $1 AND status = 'quarantined'",
    [id],
  );
  if (changed === 0) return false;
  await resetHeartbeats(trx, id);
  return true;
}

function toDevice(row: Row): DeviceRecord {
  return {
    id: row.id,
    tenant: row.tenant_id,
    name: row.name,
    platform: row.platform,
    publicKey: row.public_key,
    runnerKey: row.runner_key,
    status: row.status,
    quarantine: row.quarantine,
    enrolledAt: row.enrolled_at,
    replaces: row.replaces,
    receiptId: row.receipt_id,
    approversVersion: row.approvers_version,
    approversRefused: row.approvers_refused,
  };
}

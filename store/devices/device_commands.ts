import { type CommandStatus, type DeviceCommand } from "../../contract/domain/mod.ts";
import type { ApprovalGrounds } from "../../contract/records/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A command that somebody asks a device to run. */
export interface NewDeviceCommand
  extends Omit<DeviceCommand, "command_id" | "device_id" | "sequence" | "approval"> {
  /** `CMD-` and 12 hex characters. */
  readonly id: string;
  readonly deviceId: string;
  /** For people. */
  readonly description: string;
  readonly requestedBy: string;
  /** Null: the platform itself. */
  readonly requestedByKey: string | null;
  /** Null: no person is asked. */
  readonly approvalId: string | null;
  /** Number of people who must approve. */
  readonly needed: number;
  readonly grounds: ApprovalGrounds;
  /** Approval that its asker has denied, and offers this instead of. */
  readonly insteadOf?: string | null;
  /** The input of the server's operation that asks for it. Null: the worker's own command. */
  readonly request: Readonly<Record<string, unknown>> | null;
}

/** A command as it stands. */
export interface DeviceCommandRecord extends NewDeviceCommand {
  readonly status: CommandStatus;
  /** Why it was refused, has expired, …; null: nothing is to be said. */
  readonly code: string | null;
  /** Among the commands of its device; null: it is not issued. */
  readonly sequence: number | null;
  /** Salt of the issued receipt's commitment. */
  readonly salt: Buffer | null;
  readonly issuedReceipt: string | null;
  /** Position of that receipt in the ledger; null: it is not sealed yet. */
  readonly position: number | null;
  /** When the device was first sent it. */
  readonly offeredAt: Date | null;
  readonly begunReceipt: string | null;
  readonly begunAt: Date | null;
  readonly endedReceipt: string | null;
  readonly endedAt: Date | null;
  /** `platform`: nothing was heard of the device in time, so that what it states later counts. */
  readonly endedBy: "device" | "platform" | null;
  readonly exitCode: number | null;
  /** SHA-256 of a salt and the output, as the device has stated. */
  readonly outputSha256: string | null;
  readonly output: Buffer | null;
  readonly createdAt: Date;
  /** Database role of the process that stored it. */
  readonly storedBy: string;
}

/** Stores a command, once. @returns false where it is there already */
export async function putDeviceCommand(trx: Db, command: NewDeviceCommand): Promise<boolean> {
  const added = await trx.execute(
    `INSERT INTO device_commands (id, device_id, argv, account, timeout_seconds, output_bytes, read_only, script,
       expires_at, description, requested_by, requested_by_key, approval_id, needed, grounds, script_id, status, request,
       instead_of)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
       CASE WHEN $13::text IS NULL THEN 'queued' ELSE 'waiting_approval' END, $17, $18)
     ON CONFLICT (tenant_id, id) DO NOTHING`,
    [
      command.id,
      command.deviceId,
      JSON.stringify(command.argv),
      command.user,
      command.timeout_seconds,
      command.output_bytes,
      command.read_only,
      command.script && JSON.stringify(command.script),
      command.expires_at,
      command.description,
      command.requestedBy,
      command.requestedByKey,
      command.approvalId,
      command.needed,
      JSON.stringify(command.grounds),
      command.script?.id,
      command.request && JSON.stringify(command.request),
      command.insteadOf ?? null,
    ],
  );
  return added > 0;
}

/** Deletes a command whose workflow never began. */
export async function dropDeviceCommand(db: Db, id: string): Promise<void> {
  await db.execute(
    `DELETE FROM device_commands
     WHERE id = $1 AND sequence IS NULL AND status IN ('waiting_approval', 'queued')`,
    [id],
  );
}

/** Returns a command, or undefined. */
export async function getDeviceCommand(
  db: Db,
  id: string,
): Promise<DeviceCommandRecord | undefined> {
  const row = await db.first("SELECT * FROM device_commands WHERE id = $1", [id]);
  return row && toCommand(row);
}

/** Returns a command and locks it until the transaction ends, or undefined. */
export async function lockDeviceCommand(
  trx: Db,
  id: string,
): Promise<DeviceCommandRecord | undefined> {
  const row = await trx.first("SELECT * FROM device_commands WHERE id = $1 FOR UPDATE", [id]);
  return row && toCommand(row);
}

/**
 * Lists the commands of a device, newest first.
 *
 * @param id of the only one wanted; null: all
 * @param outputBytes bytes of each output to return; default: all
 */
export async function listDeviceCommands(
  db: Db,
  deviceId: string,
  { limit, id = null, outputBytes = null }: {
    readonly limit: number;
    readonly id?: string | null;
    readonly outputBytes?: number | null;
  },
): Promise<DeviceCommandRecord[]> {
  const rows = await db.query( // the second column of a name counts
    `SELECT *, CASE WHEN $4::int IS NULL THEN output ELSE substring(output FOR $4) END AS output
     FROM device_commands WHERE device_id = $1 AND ($2::text IS NULL OR id = $2)
     ORDER BY created_at DESC, id LIMIT $3`,
    [deviceId, id, limit, outputBytes],
  );
  return rows.map(toCommand);
}

/** Counts the commands of a device. */
export async function countDeviceCommands(db: Db, deviceId: string): Promise<number> {
  const row = await db.first<{ total: number }>(
    "SELECT count(*)::int AS total FROM device_commands WHERE device_id = $1",
    [deviceId],
  );
  return row!.total;
}

/** Reads a row of the table. */
export function toCommand(row: Row): DeviceCommandRecord {
  return {
    id: row.id,
    deviceId: row.device_id,
    argv: row.argv,
    user: row.account,
    timeout_seconds: row.timeout_seconds,
    output_bytes: row.output_bytes,
    read_only: row.read_only,
    script: row.script,
    expires_at: row.expires_at.toISOString(),
    description: row.description,
    requestedBy: row.requested_by,
    requestedByKey: row.requested_by_key,
    approvalId: row.approval_id,
    needed: row.needed,
    grounds: row.grounds,
    insteadOf: row.instead_of,
    status: row.status,
    code: row.code,
    sequence: row.sequence === null ? null : Number(row.sequence),
    salt: row.salt,
    issuedReceipt: row.issued_receipt,
    position: row.position === null ? null : Number(row.position),
    offeredAt: row.offered_at,
    begunReceipt: row.begun_receipt,
    begunAt: row.begun_at,
    endedReceipt: row.ended_receipt,
    endedAt: row.ended_at,
    endedBy: row.ended_by,
    exitCode: row.exit_code,
    outputSha256: row.output_sha256,
    output: row.output,
    createdAt: row.created_at,
    request: row.request,
    storedBy: row.stored_by,
  };
}

/** Returns the database's time, the one clock by which it is decided whether a command has expired. */
export async function getTime(db: Db): Promise<Date> {
  const row = await db.first<{ now: Date }>("SELECT clock_timestamp() AS now");
  return row!.now;
}

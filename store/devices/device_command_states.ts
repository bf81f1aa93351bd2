/** Changes of commands on their way: queued, issued, begun, ended. */
import { type CommandEnd } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import { notifyDevice } from "./heartbeats.ts";
import type { DeviceCommandRecord } from "./device_commands.ts";

/** Lets a command be issued that people have approved. */
export async function queueDeviceCommand(trx: Db, id: string): Promise<void> {
  await trx.execute(
    "UPDATE device_commands SET status = 'queued' WHERE id = $1 AND status = 'waiting_approval'",
    [id],
  );
}

/** Returns the next number of a device's commands. Nobody else gets it until the transaction ends. */
export async function nextCommandSequence(trx: Db, deviceId: string): Promise<number> {
  await trx.query("SELECT pg_advisory_xact_lock(hashtextextended('device ' || $1, 0))", [deviceId]);
  return await getCommandSequence(trx, deviceId) + 1;
}

/** Returns the number of the newest command that was issued to a device; 0: none was. */
export async function getCommandSequence(db: Db, deviceId: string): Promise<number> {
  const row = await db.first<{ newest: string }>(
    "SELECT coalesce(max(sequence), 0) AS newest FROM device_commands WHERE device_id = $1",
    [deviceId],
  );
  return Number(row!.newest);
}

/** Notes that a command is issued by a receipt that was requested. */
export async function noteIssued(
  trx: Db,
  id: string,
  { sequence, salt, receiptId }: {
    readonly sequence: number;
    readonly salt: Buffer;
    readonly receiptId: string;
  },
): Promise<void> {
  await trx.execute(
    "UPDATE device_commands SET sequence = $2, salt = $3, issued_receipt = $4 WHERE id = $1",
    [id, sequence, salt, receiptId],
  );
}

/** Notes that a command's receipt is in the published log, and tells its device's heartbeat. */
export async function noteSealed(
  db: Db,
  { id, deviceId }: Pick<DeviceCommandRecord, "id" | "deviceId">,
  position: number,
): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.execute(
      "UPDATE device_commands SET status = 'sealed', position = $2 WHERE id = $1 AND status = 'queued'",
      [id, position],
    );
    await notifyDevice(trx, deviceId);
  });
}

/** Notes that a device has begun a command. */
export async function noteBegun(trx: Db, id: string, receiptId: string, at: Date): Promise<void> {
  await trx.execute(
    `UPDATE device_commands SET status = 'begun', code = NULL, begun_receipt = $2, begun_at = $3,
       ended_receipt = NULL, ended_at = NULL, ended_by = NULL WHERE id = $1`,
    [id, receiptId, at],
  );
}

/** The end of a command. */
export interface DeviceCommandEnd {
  readonly status: CommandEnd;
  readonly code: string | null;
  readonly by: "device" | "platform";
  readonly receiptId: string;
  readonly exitCode?: number | undefined;
  readonly outputSha256?: string | undefined;
}

/** Notes how a command ended. */
export async function endDeviceCommand(
  trx: Db,
  id: string,
  { status, code, by, receiptId, exitCode, outputSha256 }: DeviceCommandEnd,
): Promise<void> {
  await trx.execute(
    `UPDATE device_commands SET status = $2, code = $3, ended_by = $4, ended_receipt = $5, exit_code = $6,
       output_sha256 = $7, ended_at = clock_timestamp() WHERE id = $1`,
    [id, status, code, by, receiptId, exitCode, outputSha256],
  );
}

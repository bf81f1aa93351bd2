/** Commands on their way to devices, and their outputs on the way back. */
import type { Db } from "../connection.ts";
import { type DeviceCommandRecord, toCommand } from "./device_commands.ts";

/** Lists the commands that were issued to a device and that it has not acknowledged, in the order of their numbers. */
export async function listUndelivered(
  db: Db,
  deviceId: string,
  limit: number,
): Promise<DeviceCommandRecord[]> {
  const rows = await db.query(
    `SELECT * FROM device_commands
     WHERE device_id = $1 AND status IN ('queued', 'sealed') AND sequence IS NOT NULL AND expires_at > now()
     ORDER BY sequence LIMIT $2`,
    [deviceId, limit],
  );
  return rows.map(toCommand);
}

/** Notes that commands are being sent to their device: from now on it may run them. */
export async function noteOffered(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `UPDATE device_commands SET offered_at = coalesce(offered_at, clock_timestamp())
     WHERE id = ANY ($1) AND status = 'sealed' RETURNING id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Notes that a device has got a command. */
export async function noteDelivered(
  trx: Db,
  id: string,
  deviceId: string,
  code: string | null,
): Promise<void> {
  await trx.execute(
    `UPDATE device_commands SET status = 'delivered', code = $3
     WHERE id = $1 AND device_id = $2 AND status = 'sealed' AND offered_at IS NOT NULL`,
    [id, deviceId, code],
  );
}

/** Keeps the output of a command, once. */
export async function keepOutput(trx: Db, id: string, output: Buffer): Promise<void> {
  await trx.execute(
    "UPDATE device_commands SET output = $2 WHERE id = $1 AND output IS NULL",
    [id, output],
  );
}

/** Deletes what devices have told, once it is old. */
import type { Db } from "../connection.ts";

/**
 * Deletes outputs of commands that ended more than some days ago, and what devices stated before. The newest statement of
 * each device stays, as the device may repeat it. Receipts, and how commands ended, stay.
 */
export async function pruneDeviceRecords(db: Db, days: number): Promise<void> {
  await db.execute(
    `UPDATE device_commands SET output = NULL
     WHERE output IS NOT NULL AND ended_at < now() - make_interval(days => $1)`,
    [days],
  );
  await db.execute(
    `DELETE FROM device_statements s
     WHERE stated_at < now() - make_interval(days => $1)
       AND sequence < (SELECT max(n.sequence) FROM device_statements n WHERE n.device_id = s.device_id)`,
    [days],
  );
}

/** Inventories of devices, a row a section. */
import type { Db } from "../connection.ts";

/** Sections by name, each as canonical JSON. */
export type InventoryTexts = ReadonlyMap<string, string>;

/** Returns the sections of a device, and when the newest of them changed. */
export async function getInventory(
  db: Db,
  deviceId: string,
): Promise<{ readonly sections: InventoryTexts; readonly changedAt: Date | undefined }> {
  const rows = await db.query<{ section: string; content: string; observed_at: Date }>(
    "SELECT section, content, observed_at FROM device_inventories WHERE device_id = $1",
    [deviceId],
  );
  const changedAt = rows.map((row) => row.observed_at).sort((a, b) => +a - +b).at(-1);
  return { sections: new Map(rows.map((row) => [row.section, row.content])), changedAt };
}

/**
 * Stores sections of a device.
 *
 * @param isWhole true: sections that are not among them go
 * @returns all sections that are stored then
 */
export async function putInventory(
  trx: Db,
  deviceId: string,
  changed: InventoryTexts,
  isWhole: boolean,
): Promise<InventoryTexts> {
  const names = [...changed.keys()];
  if (isWhole) {
    await trx.execute(
      "DELETE FROM device_inventories WHERE device_id = $1 AND section <> ALL ($2::text[])",
      [deviceId, names],
    );
  }
  await trx.execute(
    `INSERT INTO device_inventories (device_id, section, content)
     SELECT $1, * FROM unnest($2::text[], $3::text[])
     ON CONFLICT (tenant_id, device_id, section) DO UPDATE SET content = excluded.content, observed_at = now()`,
    [deviceId, names, [...changed.values()]],
  );
  if (isWhole) return changed;
  return (await getInventory(trx, deviceId)).sections;
}

/** Stores the hash of all sections of a device. */
export async function setInventoryHash(
  trx: Db,
  deviceId: string,
  sha256: string,
): Promise<void> {
  await trx.execute("UPDATE device_states SET inventory_sha256 = $2 WHERE device_id = $1", [
    deviceId,
    sha256,
  ]);
}

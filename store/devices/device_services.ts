/** Services of devices, as their detector needs them. */
import type { Db } from "../connection.ts";
import { type DevicePresence, listPresence } from "./device_presence.ts";

/** A device with the services that it has, by the inventory that it told last. */
export interface DeviceServicesRecord extends DevicePresence {
  readonly name: string;
  /** The services that it told, if one of them has failed; else an empty list. */
  readonly failing: unknown;
  /** False: it does not tell all of its units, so others may have failed as well. */
  readonly areUnitsKnown: boolean;
}

/** Most units that an agent lists. */
const MAX_UNITS = 500;

/** Lists devices with their services, oldest enrolment first. @param id of one device; default: all */
export async function listDeviceServices(db: Db, id?: string): Promise<DeviceServicesRecord[]> {
  const [presence, rows] = await Promise.all([
    listPresence(db, id),
    db.query( // content is canonical JSON, so that lists without a failed unit need not be read
      `SELECT d.id, d.name,
         CASE WHEN position('"active":"failed"' IN i.content) > 0 THEN i.content ELSE '[]' END AS failing,
         CASE WHEN json_typeof(i.content::json) = 'array'
           THEN json_array_length(i.content::json) < $2 ELSE false END AS known
       FROM devices d LEFT JOIN device_inventories i ON i.device_id = d.id AND i.section = 'services'
       WHERE $1::text IS NULL OR d.id = $1
       ORDER BY d.enrolled_at, d.id`,
      [id ?? null, MAX_UNITS],
    ),
  ]);
  const presenceOf = new Map(presence.map((one) => [one.id, one]));
  return rows.flatMap((row) => {
    const one = presenceOf.get(row.id);
    const { name, failing, known: areUnitsKnown } = row;
    return one ? [{ ...one, name, failing: JSON.parse(failing), areUnitsKnown }] : [];
  });
}

/** A device in the database, with the facts that it has reported. */
import { randomBytes } from "node:crypto";
import { insertRows } from "../../_rows.ts";
import type { Db } from "../../../store/mod.ts";
import { RIGHT } from "./_device.ts";

/** Facts of a device that is stored. */
export interface StoredDevice {
  readonly inventory?: Readonly<Record<string, unknown>>;
  readonly firewall?: unknown;
  readonly lastSeenAt?: Date;
}

/** Facts that are right now, and not only at the time of the other tests. */
export function rightNow(): typeof RIGHT {
  const updates = { ...RIGHT.posture.updates, listed_at: Date.now() / 1_000 - 60 };
  return { ...RIGHT, posture: { ...RIGHT.posture, updates } };
}

/** Enrols a device of the tenant of `superuser`. @returns its id */
export async function storeDevice(superuser: Db, device: StoredDevice = {}): Promise<string> {
  const { tenant: tenant_id } = superuser;
  await superuser.execute("SELECT ensure_tenant($1)", [tenant_id]);
  const device_id = `DEV-${randomBytes(6).toString("hex")}`;
  const key = randomBytes(32).toString("hex");
  await superuser.execute(
    `INSERT INTO devices (tenant_id, id, name, platform, public_key, runner_key, receipt_id, enrolment)
     VALUES ($1, $2, 'web-1', 'linux', $3, $3, $4, '{}')`,
    [tenant_id, device_id, key, randomBytes(8).toString("hex")],
  );
  await superuser.execute(
    `INSERT INTO device_states (tenant_id, device_id, counter, requests, holder, last_seen_at, log_size)
     VALUES ($1, $2, 1, '{}', 1, now(), 1)`,
    [tenant_id, device_id],
  );
  await report(superuser, device_id, device);
  return device_id;
}

/** Changes what is stored of a device, as its heartbeats would. Sections that are absent stay. */
export async function report(
  superuser: Db,
  device_id: string,
  { inventory = rightNow(), firewall = null, lastSeenAt = new Date() }: StoredDevice,
): Promise<void> {
  await superuser.execute(
    "UPDATE device_states SET firewall = $2, last_seen_at = $3 WHERE device_id = $1",
    [device_id, JSON.stringify(firewall), lastSeenAt],
  );
  const sections = Object.keys(inventory);
  await superuser.execute(
    "DELETE FROM device_inventories WHERE device_id = $1 AND section = ANY ($2)",
    [device_id, sections],
  );
  if (sections.length === 0) return;
  const { tenant: tenant_id } = superuser;
  await insertRows(
    superuser,
    "device_inventories",
    Object.entries(inventory).map(([section, value]) => ({
      tenant_id,
      device_id,
      section,
      content: JSON.stringify(value),
      observed_at: new Date(),
    })),
  );
}

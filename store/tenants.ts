import { PLATFORM_TENANT } from "../domain/mod.ts";
import type { Db } from "./connection.ts";

/** Makes a tenant that is not there yet. */
export async function ensureTenant(db: Db, tenant: string): Promise<void> {
  await db.execute("SELECT ensure_tenant($1)", [tenant]);
}

/** Lists all tenants, oldest first, for work that is done for each of them. */
export async function listTenants(db: Db): Promise<string[]> {
  const rows = await db.query<{ id: string }>("SELECT id FROM tenant_ids() AS id");
  return rows.map(({ id }) => id);
}

/** Lists the tenants whose services are watched or that have devices, and the operator's. */
export async function listWatchedTenants(db: Db): Promise<string[]> {
  const rows = await db.query<{ id: string }>("SELECT id FROM watched_tenants() AS id");
  return [...new Set([PLATFORM_TENANT, ...rows.map(({ id }) => id)])];
}

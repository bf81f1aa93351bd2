import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** An organization. */
export interface TenantRecord {
  readonly id: string;
  readonly name: string;
  readonly alias: string | null;
  /** Domains of its mail addresses. */
  readonly domains: readonly string[];
  readonly status: "pending" | "active" | "failed";
  readonly idpMode: "built_in" | "keycloak";
  /** Its id at the identity provider; null: it is not there yet. */
  readonly idpId: string | null;
  readonly idpSyncedAt: Date | null;
  readonly createdAt: Date;
  /** Number of its devices. */
  readonly devices: number;
}

/** Adds the tenant of `trx`, which is not there yet. @returns false where it is, or its alias is another one's */
export async function addTenant(
  trx: Db,
  { name, alias, domains, idpMode }: Pick<TenantRecord, "name" | "alias" | "domains" | "idpMode">,
): Promise<boolean> {
  const added = await trx.execute(
    `INSERT INTO tenants (id, name, alias, domains, idp_mode, status) VALUES ($1, $2, $3, $4, $5, 'pending')
     ON CONFLICT DO NOTHING`,
    [trx.tenant, name, alias, domains, idpMode],
  );
  return added === 1;
}

/** Lists all organizations, the newest first. */
export async function listTenantRecords(db: Db): Promise<TenantRecord[]> {
  return (await db.query("SELECT * FROM all_tenants()")).map(toTenant);
}

/** Returns an organization, or undefined. */
export async function getTenantRecord(db: Db, id: string): Promise<TenantRecord | undefined> {
  const row = await db.first("SELECT * FROM all_tenants() WHERE id = $1", [id]);
  return row && toTenant(row);
}

/** Notes that the tenant of `trx` is registered at an identity provider. */
export async function markTenantSynced(
  trx: Db,
  { idpMode, idpId }: { readonly idpMode: TenantRecord["idpMode"]; readonly idpId: string },
): Promise<void> {
  await trx.execute(
    "UPDATE tenants SET status = 'active', idp_mode = $2, idp_id = $3, idp_synced_at = now() WHERE id = $1",
    [trx.tenant, idpMode, idpId],
  );
}

/** Notes that the tenant of `trx` is not registered at the identity provider, or not any more. */
export async function markTenantFailed(trx: Db): Promise<void> {
  await trx.execute("UPDATE tenants SET status = 'failed' WHERE id = $1", [trx.tenant]);
}

function toTenant(row: Row): TenantRecord {
  return {
    id: row.id,
    name: row.name,
    alias: row.alias,
    domains: row.domains,
    status: row.status,
    idpMode: row.idp_mode,
    idpId: row.idp_id,
    idpSyncedAt: row.idp_synced_at,
    createdAt: row.created_at,
    devices: row.devices,
  };
}

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

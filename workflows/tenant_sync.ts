import type { TenantSync, TenantSyncResult } from "../domain/mod.ts";
import { LONG, perform } from "./_options.ts";
import { currentRun } from "./_run.ts";

/**
 * Registers organizations at the identity provider, and seals what was done. Its id is `tenants-sync`, or `tenant-` and the
 * id of the one organization that it is about.
 */
export async function tenantSync(request: TenantSync): Promise<TenantSyncResult> {
  const summary = request.org_id ?? "Compares all organizations";
  return await perform(LONG, summary).syncTenants(request, currentRun());
}

import { receiptIdOf } from "../calls/mod.ts";
import type { RunId, TenantSync, TenantSyncResult } from "../domain/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { listTenantRecords, markTenantSynced, type TenantRecord } from "../store/mod.ts";
import type { TenantParts } from "./parts.ts";

/** Creates the activity that registers organizations. */
export function tenantActivities({ store }: Pick<TenantParts, "store">) {
  /**
   * Registers organizations at the built-in identity provider, which is the platform's own list. Safe to repeat: what is
   * registered stays, and the run names the receipt.
   */
  async function syncTenants(
    { org_id, dry_run = false }: TenantSync,
    run: RunId,
  ): Promise<TenantSyncResult> {
    const all = await listTenantRecords(store.db);
    const chosen = org_id === undefined ? all : all.filter(({ id }) => id === org_id);
    const created = chosen.filter(({ idpId }) => idpId === null).map(({ id }) => id);
    const updated = chosen.filter(({ idpId, status }) => idpId !== null && status !== "active")
      .map(({ id }) => id);
    const found = { created, updated, missing: [], conflicts: findConflicts(all) };
    if (dry_run) return { ...found, receipt_id: null };
    const receipt_id = receiptIdOf(run, "SYNC");
    await store.db.transaction((trx) =>
      requestSeal(trx, {
        id: receipt_id,
        category: "tenants_synced",
        actor: "tenant-sync",
        subject: run.workflow_id.startsWith("tenant-") ? "tenant" : "tenants",
        action: "tenants.sync",
        outcome: "success",
        details: {
          run_id: run.run_id,
          created: created.length,
          updated: updated.length,
          missing: 0,
          conflicts: found.conflicts.length,
        },
        evidence: { found },
      })
    );
    for (const id of [...created, ...updated]) {
      await store.asTenant(id).transaction(markTenantSynced);
    }
    return { ...found, receipt_id };
  }

  return { syncTenants };
}

/** Finds domains that several organizations name. */
function findConflicts(all: readonly TenantRecord[]): TenantSyncResult["conflicts"] {
  const owners = new Map<string, string[]>();
  for (const { id, domains } of all) {
    for (const domain of domains) owners.set(domain, [...owners.get(domain) ?? [], id]);
  }
  return [...owners].filter(([, ids]) => ids.length > 1)
    .map(([domain, org_ids]) => ({ domain, org_ids }));
}

import {
  actOnce,
  type TenantFailure,
  type TenantSync,
  type TenantSyncResult,
} from "../contract/domain/mod.ts";
import { COMPARISON, perform, REMOTE, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** Organizations that one activity registers. */
const BATCH = 20;

/**
 * Registers organizations at the identity provider, and seals what was done. Its id is `tenants-sync`, or `tenant-` and the
 * id of the one organization that it is about.
 */
export async function tenantSync(request: TenantSync): Promise<TenantSyncResult> {
  const summary = request.org_id ?? "Compares all organizations";
  const plan = await perform(COMPARISON, summary).planTenantSync(request);
  const { created, updated, missing, conflicts } = plan;
  if (request.dry_run) {
    return { created, updated, missing, conflicts, failed: [], receipt_id: null };
  }
  const run = currentRun();
  return await actOnce({
    async intend() {
      await perform(SEAL, "Intent").sealTenantSyncIntent(plan, run);
      return true;
    },
    async act() {
      const failures: TenantFailure[] = [];
      const ids = [...created, ...updated];
      for (let n = 0; n < ids.length; n += BATCH) {
        const batch = ids.slice(n, n + BATCH);
        failures.push(...await perform(REMOTE, `${batch.length} of them`).registerTenants(batch));
      }
      return failures;
    },
    prove: async (failures = []) => failures, // each is looked up again by what registers it
    end: (failures) => perform(SEAL, "Seals").sealTenantSync(plan, failures, run),
  });
}

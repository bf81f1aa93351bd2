import { receiptIdOf } from "../calls/mod.ts";
import type {
  RunId,
  TenantFailure,
  TenantSync,
  TenantSyncPlan,
  TenantSyncResult,
} from "../contract/domain/mod.ts";
import { openIdentityProvider } from "../integrations/identity/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  getTenantRecord,
  listTenantRecords,
  markTenantFailed,
  markTenantSynced,
  type TenantRecord,
} from "../store/keys/mod.ts";
import { closeAct } from "../store/acts/mod.ts";
import { type ActKind, intendOnce } from "./acts/mod.ts";
import type { ActivityParts } from "./parts.ts";

const ENDED = "The run that was to register it was ended from outside";

/** Creates the activities that register organizations at the identity provider. */
export function tenantActivities({ store, outside }: Pick<ActivityParts, "store" | "outside">) {
  const provider = openIdentityProvider(outside.audit);

  /**
   * Compares organizations with the identity provider. Safe to repeat: it only reads.
   *
   * @throws {RemoteFailed} the provider does not answer
   */
  async function planTenantSync({ org_id }: TenantSync): Promise<TenantSyncPlan> {
    const all = await listTenantRecords(store.db);
    const chosen = org_id === undefined ? all : all.filter(({ id }) => id === org_id);
    const states = await provider.compare(chosen);
    const plan = { created: [], updated: [], missing: [], ambiguous: [] } as Record<
      "created" | "updated" | "missing" | "ambiguous",
      string[]
    >;
    for (const { id, idpMode, idpId, status } of chosen) {
      const isRegistered = idpId !== null && idpMode === provider.mode;
      const state = states.get(id)!;
      if (state === "ambiguous") plan.ambiguous.push(id);
      else if (!isRegistered) plan.created.push(id);
      else if (state === "missing") plan.missing.push(id);
      else if (state === "outdated" || status !== "active") plan.updated.push(id);
    }
    return { ...plan, conflicts: findConflicts(all) };
  }

  /** Seals what is about to be done at a provider of others. Safe to repeat: the run names the receipt. */
  async function sealTenantSyncIntent(plan: TenantSyncPlan, run: RunId): Promise<void> {
    const { created, updated } = plan;
    if (provider.mode === "built_in" || created.length + updated.length === 0) return;
    await intendOnce(
      store.db,
      {
        id: receiptIdOf(run, "INTENT"),
        category: "tenants_sync_intended",
        actor: "tenant-sync",
        subject: "tenants",
        action: "tenants.sync",
        outcome: "intended",
        details: { run_id: run.run_id, create: created.length, update: updated.length },
        evidence: { created, updated },
      },
      { kind: "tenants", id: run.run_id, run, act: plan },
    );
  }

  /**
   * Registers organizations, or brings them up to date. Safe to repeat: the provider looks each up before it acts, so that
   * there is never a second one.
   *
   * @returns those for which that was not done, or nobody can tell
   */
  async function registerTenants(orgIds: readonly string[]): Promise<TenantFailure[]> {
    const failures: TenantFailure[] = [];
    for (const id of orgIds) {
      const record = await getTenantRecord(store.db, id);
      if (!record) continue;
      const result = await provider.register(record);
      const own = store.asTenant(id);
      if (result.outcome === "done") {
        const registration = { idpMode: provider.mode, idpId: result.id };
        await own.transaction((trx) => markTenantSynced(trx, registration));
        continue;
      }
      failures.push({ org_id: id, outcome: result.outcome, reason: result.reason });
      if (result.outcome === "not_done") await own.transaction(markTenantFailed);
    }
    return failures;
  }

  /** Seals what was done. Safe to repeat: the run names the receipt. */
  async function sealTenantSync(
    plan: TenantSyncPlan,
    failures: readonly TenantFailure[],
    run: RunId,
  ): Promise<TenantSyncResult> {
    for (const id of plan.missing) await store.asTenant(id).transaction(markTenantFailed);
    const receipt_id = receiptIdOf(run, "SYNC");
    const found = describeSync(plan, failures);
    const count = (outcome: TenantFailure["outcome"]) =>
      found.failed.filter((one) => one.outcome === outcome).length;
    await store.db.transaction(async (trx) => {
      await closeAct(trx, "tenants", run.run_id);
      await requestSeal(trx, {
        id: receipt_id,
        category: "tenants_synced",
        actor: "tenant-sync",
        subject: run.workflow_id.startsWith("tenant-") ? "tenant" : "tenants",
        action: "tenants.sync",
        outcome: count("unknown") > 0 ? "unknown" : found.failed.length > 0 ? "failure" : "success",
        details: {
          run_id: run.run_id,
          idp: provider.mode,
          created: found.created.length,
          updated: found.updated.length,
          missing: found.missing.length,
          conflicts: found.conflicts.length,
          not_done: count("not_done"),
          unknown: count("unknown"),
        },
        evidence: { found },
      });
    });
    return { ...found, receipt_id };
  }

  return { planTenantSync, sealTenantSyncIntent, registerTenants, sealTenantSync };
}

/** Registrations of organizations at a provider of others. What that does not show is `unknown`. */
export const tenantsKind: ActKind = {
  async end(owner, { act: plan }, run) {
    const states = await openIdentityProvider(owner.outside.audit)
      .compare(await listTenantRecords(owner.store.db));
    const failures = [...plan.created, ...plan.updated]
      .filter((id: string) => states.get(id) !== "current")
      .map((org_id) => ({ org_id, outcome: "unknown" as const, reason: ENDED }));
    await tenantActivities(owner).sealTenantSync(plan, failures, run);
    return true;
  },
};

function describeSync(
  { created, updated, missing, ambiguous, conflicts }: TenantSyncPlan,
  failures: readonly TenantFailure[],
): Omit<TenantSyncResult, "receipt_id"> {
  const isDone = (id: string) => failures.every(({ org_id }) => org_id !== id);
  return {
    created: created.filter(isDone),
    updated: updated.filter(isDone),
    missing,
    conflicts,
    failed: [
      ...ambiguous.map((org_id) => ({
        org_id,
        outcome: "not_done" as const,
        reason: "Several organizations of the identity provider carry its id",
      })),
      ...failures,
    ],
  };
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

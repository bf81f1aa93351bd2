import {
  detectAll,
  type DetectedFinding,
  openDetectionContext,
} from "../../judgement/detection/mod.ts";
import { ANY_PLACE } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { countRepeatSightings, listEscalatedFaults } from "../../store/incidents/mod.ts";
import { listWatchedTenants } from "../../store/keys/mod.ts";
import { isFlagSet } from "../../store/platform/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { findRetries } from "./_retries.ts";
import { recheckApprovals } from "./outdated.ts";
import { closeRecovered } from "./recovered.ts";

/** Result of running all detectors. */
export interface DetectionResult {
  /** Number of things that were examined. */
  readonly probed: number;
  /** Number of faults. */
  readonly findings: number;
  /** The probable root of each incident, worst first. */
  readonly incidents:
    readonly (DetectedFinding & { readonly tenant_id: string; readonly tried_again?: string })[];
  /**
   * Fingerprints of incidents that are left to people: their ticket is escalated with this fault, and what was decided rests on
   * what is there still; or a person has taken it.
   */
  readonly escalated: readonly string[];
}

/** Creates the activity of a sweep. */
export function sweepActivities(parts: ActivityParts) {
  const { config, store, temporal, alerts, refreshServices } = parts;

  /**
   * Runs every detector, on the services as their file lists them now, closes tickets that wait for people where the
   * fault is gone, and has approvals end whose repair is another one by now. A fault that was left to people is tried again
   * once the runbooks, the service's entry or the policy have changed. Safe to repeat: it stores what was seen last, and counts one more sighting for each ticket of a run.
   *
   * @param options `everyTenant`: of all tenants, and only while the flag `pause_sweeps` is not set; else of the one that asks;
   *     `shared`: also what belongs to no place
   */
  async function runDetectors(
    { everyTenant, shared }: { readonly everyTenant: boolean; readonly shared: boolean },
  ): Promise<DetectionResult> {
    if (everyTenant && await isFlagSet(store.db, "pause_sweeps")) {
      return { probed: 0, findings: 0, incidents: [], escalated: [] };
    }
    const servicesProblem = await refreshServices?.();
    const tenants = everyTenant ? await listWatchedTenants(store.db) : [store.tenant];
    const results: DetectionResult[] = [];
    for (const tenant of tenants) {
      results.push(await sweepTenant(store.forTenant(tenant), shared, servicesProblem));
    }
    return {
      probed: results.reduce((sum, { probed }) => sum + probed, 0),
      findings: results.reduce((sum, { findings }) => sum + findings, 0),
      incidents: results.flatMap(({ incidents }) => incidents),
      escalated: results.flatMap(({ escalated }) => escalated),
    };
  }

  async function sweepTenant(
    owner: Store,
    shared: boolean,
    servicesProblem: string | undefined,
  ): Promise<DetectionResult> {
    const places = [config.place, ...(shared ? [ANY_PLACE, ""] : [])];
    const context = openDetectionContext({ config, store: owner, temporal, alerts, places });
    const { probed, findings, incidents } = await detectAll({ ...context, servicesProblem }, {
      save: true,
    });
    if (shared) await closeRecovered(owner);
    await recheckApprovals({ ...parts, store: owner }, places);
    const fingerprints = incidents.map(({ fingerprint }) => fingerprint);
    const [escalated, retries] = await Promise.all([
      listEscalatedFaults(owner.db, incidents),
      findRetries(owner, fingerprints),
      countRepeatSightings(owner.db, fingerprints),
    ]);
    return {
      probed,
      findings: findings.length,
      incidents: incidents.map((incident) => {
        const tried_again = retries.get(incident.fingerprint);
        return { ...incident, tenant_id: owner.tenant, ...(tried_again ? { tried_again } : {}) };
      }),
      escalated: escalated.filter((fingerprint) => !retries.has(fingerprint)),
    };
  }

  return { runDetectors };
}

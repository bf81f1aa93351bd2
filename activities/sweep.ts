import { detectAll, type DetectedFinding, openWorld } from "../integrations/mod.ts";
import { escalatedFaults } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** What a sweep found. */
export interface FoundNow {
  /** How many things were looked at. */
  readonly probed: number;
  /** How many faults there are. */
  readonly findings: number;
  /** What they are: the likely root of each incident. Worst first. */
  readonly incidents: readonly DetectedFinding[];
  /** Fingerprints among them whose ticket waits for people: nothing more is to be done by itself. */
  readonly escalated: readonly string[];
}

/** The step before any loop. */
export function sweeping({ config, store, temporal, refreshServices }: ActivityParts) {
  /**
   * Looks with every detector, at the services as their file has them now. Safe to repeat: it only looks, and notes what
   * it saw last.
   */
  async function runDetectors(): Promise<FoundNow> {
    const servicesProblem = await refreshServices?.();
    const world = {
      ...openWorld({ config, store, temporal: () => Promise.resolve(temporal) }),
      servicesProblem,
    };
    const { probed, findings, incidents } = await detectAll(world, { remember: true });
    const escalated = await escalatedFaults(store.knex, incidents.map((one) => one.fingerprint));
    return { probed, findings: findings.length, incidents, escalated };
  }
  return { runDetectors };
}

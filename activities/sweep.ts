import { detectAll, type DetectedFinding, openDetectionContext } from "../detection/mod.ts";
import { countRepeatSightings, listEscalatedFaults } from "../store/mod.ts";
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
   * Looks with every detector, at the services as their file has them now. Safe to repeat: it only looks, notes what it
   * saw last, and counts for tickets with a run that their fault was seen once more.
   */
  async function runDetectors(): Promise<FoundNow> {
    const servicesProblem = await refreshServices?.();
    const world = {
      ...openDetectionContext({ config, store, temporal }),
      servicesProblem,
    };
    const { probed, findings, incidents } = await detectAll(world, { save: true });
    const fingerprints = incidents.map((one) => one.fingerprint);
    const [escalated] = await Promise.all([
      listEscalatedFaults(store.asPlatform(), fingerprints),
      countRepeatSightings(store.asPlatform(), fingerprints),
    ]);
    return { probed, findings: findings.length, incidents, escalated };
  }
  return { runDetectors };
}

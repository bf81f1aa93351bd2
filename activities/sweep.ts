import { detectAll, type DetectedFinding, openDetectionContext } from "../detection/mod.ts";
import { countRepeatSightings, listEscalatedFaults } from "../store/mod.ts";
import type { ActivityParts } from "./parts.ts";

/** Result of running all detectors. */
export interface DetectionResult {
  /** Number of things that were examined. */
  readonly probed: number;
  /** Number of faults. */
  readonly findings: number;
  /** The probable root of each incident, worst first. */
  readonly incidents: readonly DetectedFinding[];
  /** Fingerprints of incidents whose ticket is escalated, so that only people act on it. */
  readonly escalated: readonly string[];
}

/** Creates the activity of a sweep. */
export function sweepActivities({ config, store, temporal, refreshServices }: ActivityParts) {
  const db = store.asPlatform();

  /**
   * Runs every detector, on the services as their file lists them now. Safe to repeat: it stores what was seen last, and
   * counts one more sighting for each ticket of a run.
   */
  async function runDetectors(): Promise<DetectionResult> {
    const servicesProblem = await refreshServices?.();
    const context = openDetectionContext({ config, store, temporal });
    const { probed, findings, incidents } = await detectAll({ ...context, servicesProblem }, {
      save: true,
    });
    const fingerprints = incidents.map(({ fingerprint }) => fingerprint);
    const [escalated] = await Promise.all([
      listEscalatedFaults(db, fingerprints),
      countRepeatSightings(db, fingerprints),
    ]);
    return { probed, findings: findings.length, incidents, escalated };
  }

  return { runDetectors };
}

import { probeAll, type ServiceFinding } from "../integrations/mod.ts";
import { escalatedFaults } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** What a sweep over the services found. */
export interface FoundNow {
  readonly probed: number;
  readonly findings: readonly ServiceFinding[];
  /** Fingerprints among them whose ticket waits for people: nothing more is to be done by itself. */
  readonly escalated: readonly string[];
}

/** The step before any loop. */
export function sweeping({ store }: ActivityParts) {
  /** Probes every watched service. Safe to repeat: it only looks, and notes what it saw last. */
  async function probeServices(): Promise<FoundNow> {
    const { probed, findings } = await probeAll(store);
    const escalated = await escalatedFaults(store.knex, findings.map((f) => f.fingerprint));
    return { probed, findings, escalated };
  }
  return { probeServices };
}

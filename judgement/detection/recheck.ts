import type { DetectorName, FindingCheck } from "../../contract/domain/mod.ts";
import { clearFinding, getFinding } from "../../store/incidents/mod.ts";
import { detectorOf } from "./_detectors.ts";
import { recheckAlerts } from "./alert_recheck.ts";
import type { DetectionContext, FaultId, RecheckResult, RecheckTime } from "./detector.ts";

/** The fault to look at again. */
export interface Recheckable extends FaultId {
  readonly check: FindingCheck | "report";
}

const DETECTOR_BY_CHECK: Readonly<Record<Recheckable["check"], DetectorName>> = {
  report: "service_probes",
  http: "service_probes",
  tcp: "service_probes",
  command: "service_probes",
  host: "host_resources",
  log: "logs",
  certificate: "certificates",
  platform: "platform",
  alert: "service_probes",
};

/**
 * Looks at one fault again, with the detector that found it, and at the alerts that it was found by. For a fault that a person reported, the service that it names
 * is probed.
 *
 * @param time `before` a repair, or `after` it: then a fault that is over is recorded as such
 * @returns undefined where there is nothing to look at
 */
export async function recheck(
  context: DetectionContext,
  finding: Recheckable,
  time: RecheckTime,
): Promise<RecheckResult | undefined> {
  const { check, fingerprint } = finding;
  const detector = detectorOf(DETECTOR_BY_CHECK[check]);
  const db = context.store.db;
  const known = await getFinding(db, fingerprint);
  const own = await detector.recheck(context, finding, known, time);
  const result = await recheckAlerts(context, known, time, own);
  if (result.code === "no_check") return undefined;
  if (time === "after" && !result.present && known?.cleared_at === null) {
    await clearFinding(db, fingerprint);
  }
  return result;
}

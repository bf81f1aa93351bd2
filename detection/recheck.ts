import type { DetectorName, FindingCheck } from "../domain/mod.ts";
import { clearFinding, getFinding } from "../store/mod.ts";
import { detectorOf } from "./_detectors.ts";
import type { DetectionContext, RecheckResult, RecheckTime } from "./detector.ts";
import type { DetectedFinding } from "./findings.ts";

/** The finding to look at again, as far as it is known. */
export type Recheckable = Pick<DetectedFinding, "service" | "code" | "fingerprint"> & {
  readonly check: FindingCheck | "report";
};

const DETECTOR_BY_CHECK: Readonly<Record<FindingCheck, DetectorName>> = {
  http: "service_probes",
  tcp: "service_probes",
  command: "service_probes",
  host: "host_resources",
  log: "logs",
  certificate: "certificates",
  platform: "platform",
};

/**
 * Looks at one fault again, with the detector that found it. For a fault that a person reported, the service that it names
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
  const { fingerprint } = finding;
  const check = finding.check === "report" ? "http" : finding.check;
  const detector = detectorOf(DETECTOR_BY_CHECK[check]);
  const db = context.store.asPlatform();
  const recorded = getFinding(db, fingerprint);
  const detected: DetectedFinding = {
    ...finding,
    check,
    detector: detector.name,
    severity: "high",
    observed_at: "",
  };
  const [result, known] = await Promise.all([
    detector.recheck(context, detected, recorded, time),
    recorded,
  ]);
  if (result.code === "no_check") return undefined;
  if (time === "after" && !result.present && known?.cleared_at === null) {
    await clearFinding(db, fingerprint);
  }
  return result;
}

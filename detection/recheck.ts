import type { DetectorName } from "../domain/mod.ts";
import { clearFinding, getFinding } from "../store/mod.ts";
import type { DetectedFinding } from "./findings.ts";
import { ALL } from "./_all.ts";
import type { DetectionContext, RecheckResult, RecheckTime } from "./_detector.ts";

/** The finding to look at again, as much of it as is known. */
export type Recheckable = Pick<DetectedFinding, "service" | "code" | "fingerprint"> & {
  readonly check: DetectedFinding["check"] | "report";
};

const BY_CHECK: Readonly<Record<DetectedFinding["check"], DetectorName>> = {
  http: "service_probes",
  tcp: "service_probes",
  command: "service_probes",
  host: "host_resources",
  log: "logs",
  certificate: "certificates",
  platform: "platform",
};

/**
 * Looks at one fault again, by the detector that found it.
 *
 * What a person reported is looked at by the probe of the service that it names; where there is none, it can't be
 * looked at, and gives undefined.
 *
 * @param moment `before` anything is done about it, or `after`: then a fault that is over is noted as such
 */
export async function recheck(
  world: DetectionContext,
  finding: Recheckable,
  moment: RecheckTime,
): Promise<RecheckResult | undefined> {
  const { check } = finding;
  const detector = ALL.find(({ name }) =>
    name === (check === "report" ? "service_probes" : BY_CHECK[check])
  )!;
  const knowing = getFinding(world.store.asPlatform(), finding.fingerprint);
  const found = { ...finding, detector: detector.name, severity: "high", observed_at: "" } as const;
  const [again, known] = await Promise.all([
    detector.recheck(
      world,
      { ...found, check: check === "report" ? "http" : check },
      knowing,
      moment,
    ),
    knowing,
  ]);
  if (again.code === "no_check") return undefined;
  if (moment === "after" && !again.present && known?.cleared_at === null) {
    await clearFinding(world.store.asPlatform(), finding.fingerprint);
  }
  return again;
}

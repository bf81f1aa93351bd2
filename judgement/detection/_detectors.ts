import { type DetectorName, DETECTORS } from "../../contract/domain/mod.ts";
import { certificates } from "./certificates.ts";
import type { Detector } from "./detector.ts";
import { hostResources } from "./host_resources.ts";
import { logs } from "./logs.ts";
import { platform } from "./platform.ts";
import { serviceProbes } from "./service_probes.ts";

const BY_NAME: Readonly<Record<DetectorName, Detector>> = {
  service_probes: serviceProbes,
  host_resources: hostResources,
  logs,
  certificates,
  platform,
};

/** All detectors, in the order of {@linkcode DETECTORS}. */
export const ALL: readonly Detector[] = DETECTORS.map((name) => BY_NAME[name]);

/** Returns the detector of a name. */
export function detectorOf(name: DetectorName): Detector {
  return BY_NAME[name];
}

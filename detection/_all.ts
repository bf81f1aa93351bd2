import type { Detector } from "./_detector.ts";
import { certificates } from "./certificates.ts";
import { hostResources } from "./host_resources.ts";
import { logs } from "./logs.ts";
import { platform } from "./platform.ts";
import { serviceProbes } from "./service_probes.ts";

/** All detectors, in the order in which they are listed. */
export const ALL: readonly Detector[] = [
  serviceProbes,
  hostResources,
  logs,
  certificates,
  platform,
];

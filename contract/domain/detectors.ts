/** The detectors, in the order in which they are listed. */
export const DETECTORS = [
  "service_probes",
  "host_resources",
  "logs",
  "certificates",
  "platform",
] as const;

/** Name of a detector. */
export type DetectorName = typeof DETECTORS[number];

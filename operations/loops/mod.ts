/** The incident loop: detecting faults and repairing them. @module */
import { detectFaults, detectorList } from "./detection.ts";
import { runLoop, runTest } from "./runs.ts";

/** Operations of this folder. */
export const loopOperations = [
  runLoop,
  runTest,
  detectFaults,
  detectorList,
];

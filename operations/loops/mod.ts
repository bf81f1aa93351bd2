/** The incident loop: detecting faults and healing them. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { detect, detectors } from "./detection.ts";
import { runLoop, runTest } from "./runs.ts";

/** Operations of this folder. */
export const loopOperations: readonly Operation<Platform>[] = [
  runLoop,
  runTest,
  detect,
  detectors,
];

/** Security: practice attacks, and scans for weaknesses. @module */
import { simulateAttack } from "./attacks.ts";
import { approveWeakness, runScan, weaknessQueue } from "./scans.ts";

/** Operations of this folder. */
export const securityOperations = [
  simulateAttack,
  weaknessQueue,
  approveWeakness,
  runScan,
];

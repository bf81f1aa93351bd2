/** Security: practice attacks and scans. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { simulateAttack } from "./attacks.ts";
import { approveFinding, scanQueue, triggerScan } from "./scans.ts";

/** Operations of this folder. */
export const securityOperations: readonly Operation<Platform>[] = [
  simulateAttack,
  scanQueue,
  approveFinding,
  triggerScan,
];

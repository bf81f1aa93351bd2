/** Learning from resolved tickets. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { approveItem, metrics, queue } from "./learning.ts";

/** Operations of this folder. */
export const learningOperations: readonly Operation<Platform>[] = [
  queue,
  approveItem,
  metrics,
];

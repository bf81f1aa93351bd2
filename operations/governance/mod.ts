/** Governance: the decisions about calls. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { governanceDecisions } from "./decisions.ts";

/** Operations of this folder. */
export const governanceOperations: readonly Operation<Platform>[] = [
  governanceDecisions,
];

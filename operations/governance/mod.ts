/** Governance: the decisions about calls. @module */
import { governanceDecisions } from "./decisions.ts";

/** Operations of this folder. */
export const governanceOperations = [
  governanceDecisions,
];

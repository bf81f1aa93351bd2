/** Governance: the decisions about calls. @module */
import { governanceDecisions } from "./decisions.ts";
import { governanceStops } from "./stops.ts";

/** Operations of this folder. */
export const governanceOperations = [
  governanceDecisions,
  governanceStops,
];

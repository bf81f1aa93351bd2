/** Governance: the decisions about calls. @module */
import { governanceDecisions } from "./decisions.ts";
import { policyTrial, policyVersions } from "./policies.ts";
import { decisionCounts, decisionSearch } from "./search.ts";
import { governanceStops } from "./stops.ts";

/** Operations of this folder. */
export const governanceOperations = [
  governanceDecisions,
  governanceStops,
  decisionSearch,
  decisionCounts,
  policyVersions,
  policyTrial,
];

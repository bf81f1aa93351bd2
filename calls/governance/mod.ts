/**
 * Governance: decides on every call that changes something, before it runs.
 *
 * ```ts
 * const governor = openGovernor({ store, sealer, meter, engine, environment: "production", ask, lasting });
 * const { ruling } = await governor.decide({ operation, request, caller, input }, turn);
 * ```
 *
 * Trusts: the policy and the switches in the store. Doesn't trust: what a call claims of itself.
 * @module
 */
export { actionOf, type AskPeople, type Question } from "../approvals/desk.ts";
export { type GovernanceParts, type Governor, openGovernor, type Turn } from "./governor.ts";
export {
  GOVERNANCE_POLICY,
  governanceFileSchema,
  type GovernancePolicy,
  governanceVersion,
  NO_RULES,
  readGovernancePolicy,
  SHIPPED,
} from "./policy.ts";
export { type PolicyFile, readGovernanceFile } from "./policy_file.ts";
export { fitsGlob, isWithin, ruleFor } from "./rules.ts";

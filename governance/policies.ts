import { currentPolicy, type Store } from "../store/mod.ts";
import { GOVERNANCE_POLICY, type GovernancePolicy, governanceVersion, NO_RULES } from "./policy.ts";

/** A policy in a version. */
export interface PolicyInForce {
  readonly policy: GovernancePolicy;
  /** Its number and the first digits of its hash. */
  readonly name: string;
}

/** Keeps the newest policy that was asked for, so that it is read once a version. */
export function openPolicies(store: Store): { at(version: number): Promise<PolicyInForce> } {
  let known = { version: 0, policy: NO_RULES, name: governanceVersion(0, NO_RULES) };
  return {
    async at(version) {
      if (version === known.version) return known;
      const stored = await currentPolicy(store.knex, "governance_policies");
      const policy = stored ? GOVERNANCE_POLICY.parse(stored.policy) : NO_RULES;
      const number = stored?.version ?? 0;
      known = { version: number, policy, name: governanceVersion(number, policy) };
      return known;
    },
  };
}

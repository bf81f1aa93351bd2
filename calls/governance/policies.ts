import { Problem } from "../../contract/mod.ts";
import { currentPolicy, type Store } from "../../store/mod.ts";
import {
  type GovernancePolicy,
  governanceVersion,
  NO_RULES,
  readGovernancePolicy,
} from "./policy.ts";

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
      const stored = await currentPolicy(store.asPlatform(), "governance_policies");
      const policy = stored ? readable(stored.policy) : NO_RULES;
      const number = stored?.version ?? 0;
      known = { version: number, policy, name: governanceVersion(number, policy) };
      return known;
    },
  };
}

/** A policy as it is stored. @throws {Problem} `Unavailable`: it was set by a version that took what this one does not */
function readable(stored: unknown): GovernancePolicy {
  try {
    return readGovernancePolicy(stored);
  } catch (cause) {
    const why = (cause as Error).message;
    const message = `The policy in force can't be followed, so nothing is allowed: ${why}`;
    throw new Problem("Unavailable", message, { cause });
  }
}

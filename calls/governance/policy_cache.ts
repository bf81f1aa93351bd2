import { Problem } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import { currentPolicy } from "../../store/calls/mod.ts";
import {
  type GovernancePolicy,
  governanceVersion,
  NO_RULES,
  readGovernancePolicy,
} from "./policy.ts";

/** A policy in a version. */
export interface VersionedPolicy {
  readonly policy: GovernancePolicy;
  /** The version's number and the first digits of the policy's hash. */
  readonly name: string;
}

/** Returns a function that reads the policy in force, once a version. */
export function openPolicyCache(db: Db): (version: number) => Promise<VersionedPolicy> {
  let cached = { version: 0, policy: NO_RULES, name: governanceVersion() };
  return async (version) => {
    if (version === cached.version) return cached;
    const stored = await currentPolicy(db, "governance_policies");
    const policy = stored ? parse(stored.policy) : NO_RULES;
    cached = { version: stored?.version ?? 0, policy, name: governanceVersion(stored) };
    return cached;
  };
}

/** @throws {Problem} `Unavailable`: another version of the platform set it, and this one can't follow it */
function parse(stored: unknown): GovernancePolicy {
  try {
    return readGovernancePolicy(stored);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new Problem(
      "Unavailable",
      `Cannot follow the governance policy in force, so nothing is allowed: ${why}`,
      { cause },
    );
  }
}

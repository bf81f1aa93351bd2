/** Governance policies of tests. */
import { readGovernancePolicy } from "../calls/governance/mod.ts";
import { setPolicy, type Store } from "../store/mod.ts";

/** Puts a governance policy in force, as a file would say it. */
export async function setGovernance(store: Store, file: unknown): Promise<void> {
  const policy = readGovernancePolicy(file);
  await setPolicy(store.asPlatform(), "governance_policies", policy);
}

/** Lets agents call what no rule that ships speaks of. */
export async function allowTools(store: Store, tools: readonly string[]): Promise<void> {
  await setGovernance(store, {
    rules: [{ name: "test", when: { tools }, then: "allow", guardrails: false }],
  });
}

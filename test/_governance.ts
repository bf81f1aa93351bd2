/** Sets governance policies. */
import { readGovernancePolicy } from "../calls/governance/mod.ts";
import type { Store } from "../store/mod.ts";
import { setPolicy } from "../store/calls/mod.ts";
import { asSuperuser } from "./_superuser.ts";

/** Sets the governance policy. @param file content of a policy file */
export async function setGovernance(store: Store, file: unknown): Promise<void> {
  const policy = readGovernancePolicy(file);
  await setPolicy(asSuperuser(store), "governance_policies", policy);
}

/** Sets a policy that lets agents call these tools without guardrails. */
export async function allowTools(store: Store, tools: readonly string[]): Promise<void> {
  await setGovernance(store, {
    rules: [{ name: "test", when: { tools }, then: "allow", guardrails: false }],
  });
}

import { workflowInfo } from "@temporalio/workflow";
import { ATTRIBUTE, PLATFORM_TENANT, type RunId, tenantAttribute } from "../contract/domain/mod.ts";

/** Returns the ids of this run. */
export function currentRun(): RunId {
  const { workflowId, runId } = workflowInfo();
  return { workflow_id: workflowId, run_id: runId };
}

/** Returns the tenant that this run belongs to: that of the key that asked for it, or the operator's. */
export function currentTenant(): string {
  return workflowInfo().typedSearchAttributes.get(ATTRIBUTE.tenant) ?? PLATFORM_TENANT;
}

/** Returns the search attribute by which a child of this run belongs to the same tenant. */
export function inheritTenant() {
  return tenantAttribute(currentTenant());
}

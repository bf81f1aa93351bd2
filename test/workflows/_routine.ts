import type { WorkflowHandle } from "@temporalio/client";

/** Returns the current details of a run, as the Web UI shows them; empty: it has none yet. */
export async function currentDetails(run: WorkflowHandle): Promise<string> {
  const metadata = await run.query<{ currentDetails?: string }>("__temporal_workflow_metadata")
    .catch(() => undefined); // no worker has taken it yet
  return metadata?.currentDetails ?? "";
}

import { workflowInfo } from "@temporalio/workflow";
import type { RunId } from "../domain/mod.ts";

/** Returns the ids of this run. */
export function currentRun(): RunId {
  const { workflowId, runId } = workflowInfo();
  return { workflow_id: workflowId, run_id: runId };
}

import { WorkflowNotFoundError } from "@temporalio/client";
import type { Platform } from "./platform.ts";

/** Temporal's status of a run. */
export interface RunStatus {
  /** `RUNNING`, `COMPLETED`, `FAILED`, …; `NOT_FOUND`: Temporal does not know it, or no longer. */
  readonly status: string;
  /** Undefined: not found. */
  readonly runId?: string;
}

/** Returns the status of a run; without its id, of the workflow's last run. */
export async function getRunStatus(
  temporal: Platform["temporal"],
  workflowId: string,
  runId?: string,
): Promise<RunStatus> {
  const { workflow } = await temporal();
  try {
    const description = await workflow.getHandle(workflowId, runId).describe();
    return { status: description.status.name, runId: description.runId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { status: "NOT_FOUND" };
    throw error;
  }
}

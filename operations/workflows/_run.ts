import type { WorkflowExecutionInfo, WorkflowHandle } from "@temporalio/client";
import { z } from "zod";
import { type Context, mapTemporalErrors } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { EXAMPLE_RUN_ID, Timestamp } from "../schemas/mod.ts";

/** Statuses of a run, as Temporal names them. */
export const RUN_STATUSES = [
  "RUNNING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "TERMINATED",
  "CONTINUED_AS_NEW",
  "TIMED_OUT",
] as const;

/** A run. */
export const Run = z.object({
  workflow_id: z.string(),
  run_id: z.string(),
  type: z.string(),
  status: z.string().describe(RUN_STATUSES.join(", ")),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  search_attributes: z.record(z.string(), z.unknown()).describe(
    "SealoopTenant, SealoopStep, SealoopService, SealoopTicket, SealoopReceipt and SealoopOutcome, as far as known",
  ),
}).meta({ id: "WorkflowRun" });

/** A run, in examples. */
export const exampleRun = {
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: EXAMPLE_RUN_ID,
  type: "itsmLoop",
  status: "COMPLETED",
  started_at: "2026-07-01T12:00:00.000Z",
  ended_at: "2026-07-01T12:00:01.000Z",
  search_attributes: { SealoopStep: "CLOSE+SEAL", SealoopOutcome: "sealed" },
} satisfies z.output<typeof Run>;

/** Converts Temporal's description of a run. */
export function toRun(info: Omit<WorkflowExecutionInfo, "raw">): z.output<typeof Run> {
  const attributes = info.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  return {
    workflow_id: info.workflowId,
    run_id: info.runId,
    type: info.type,
    status: info.status.name,
    started_at: info.startTime.toISOString(),
    ended_at: info.closeTime?.toISOString() ?? null,
    search_attributes: Object.fromEntries(attributes),
  };
}

/**
 * Calls Temporal about the latest run of a workflow.
 *
 * @throws {Problem} `NotFound`: there is no such workflow; `Unavailable`
 */
export async function withWorkflow<T>(
  { temporal }: Pick<Context, "temporal">,
  workflowId: string,
  work: (handle: WorkflowHandle) => Promise<T>,
): Promise<T> {
  const handle = (await temporal()).workflow.getHandle(workflowId);
  const missing = () => new Problem("NotFound", `There is no workflow ${workflowId}`);
  return await mapTemporalErrors(work(handle), missing);
}

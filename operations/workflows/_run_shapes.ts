import type { WorkflowExecutionInfo } from "@temporalio/client";
import { z } from "zod";
import { Problem } from "../../contract/mod.ts";
import { Timestamp } from "../_shapes.ts";
import { type Context, mapTemporalErrors } from "../../calls/mod.ts";

/** Section of the descriptions. */
export const group = "workflows";

/** How a run can stand. */
export const RUN_STATUS = [
  "RUNNING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "TERMINATED",
  "CONTINUED_AS_NEW",
  "TIMED_OUT",
] as const;

/** A run, as lists have it. */
export const RunShape = z.object({
  workflow_id: z.string(),
  run_id: z.string(),
  type: z.string(),
  status: z.string().describe(RUN_STATUS.join(", ")),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  search_attributes: z.record(z.string(), z.unknown()).describe(
    "SealoopStep, SealoopService, SealoopTicket, SealoopReceipt, SealoopOutcome, as far as they are known",
  ),
}).meta({ id: "WorkflowRun" });

/** A run of the examples. */
export const exampleRun = {
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
  type: "itsmLoop",
  status: "COMPLETED",
  started_at: "2026-07-01T12:00:00.000Z",
  ended_at: "2026-07-01T12:00:01.000Z",
  search_attributes: { SealoopStep: "CLOSE+SEAL", SealoopOutcome: "sealed" },
};

/** A run in the names of the wire. */
export function shownRun(info: Omit<WorkflowExecutionInfo, "raw">) {
  const attributes = info.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  return {
    workflow_id: info.workflowId,
    run_id: info.runId,
    type: info.type,
    status: info.status.name as string,
    started_at: info.startTime.toISOString(),
    ended_at: info.closeTime?.toISOString() ?? null,
    search_attributes: Object.fromEntries(attributes) as Record<string, unknown>,
  };
}

/** Asks a workflow. @throws {Problem} `NotFound`: there is none of that id; `Unavailable` */
export async function ofWorkflow<T>(
  { temporal }: Pick<Context, "temporal">,
  workflowId: string,
  work: (
    handle: ReturnType<Awaited<ReturnType<Context["temporal"]>>["workflow"]["getHandle"]>,
  ) => Promise<T>,
): Promise<T> {
  const handle = (await temporal()).workflow.getHandle(workflowId);
  return await mapTemporalErrors(
    work(handle),
    () => new Problem("NotFound", `There is no workflow ${workflowId}`),
  );
}

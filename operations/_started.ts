import type { Client } from "@temporalio/client";
import { z } from "zod";
import { CallerGone, type LongRunning, Problem } from "../contract/mod.ts";
import { type Context, followLoop, mapTemporalErrors } from "../calls/mod.ts";
import type { SharedRun } from "../calls/recover/mod.ts";

/** A run that was started, and its end where that was waited for. */
export const Started = z.object({
  workflow_id: z.string(),
  run_id: z.string(),
  result_url: z.url().describe("GET it to wait for the end"),
  status: z.enum(["RUNNING", "COMPLETED", "FAILED"]).describe(
    "RUNNING: it had not ended when this was said; it goes on by itself",
  ),
  result: z.looseObject({
    outcome: z.string().optional().describe("sealed, clear or escalated"),
    ticket_id: z.string().nullable().optional(),
    receipt_id: z.string().nullable().optional(),
  }).nullable().describe("As of its end; null before"),
  failure: z.string().nullable(),
}).meta({ id: "StartedRun" });

/** What of such a run is left to be said when it has ended. */
export const startedOutcome: LongRunning["outcome"] = (given, result) => ({
  ...given,
  ...{ status: "COMPLETED", result: result ?? null },
});

/** How long to wait for the end. */
export const WaitSeconds = z.number().int().min(0).max(50).optional().describe(
  "Longest to wait for the end, telling of each step where the client asks for progress; by default 0 over REST, 25 else",
);
/** Less than clients of MCP wait for an answer. */
const TOOL_WAIT_SECONDS = 25;

/** A run of the examples. */
export const exampleRun = {
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
  result_url: "http://127.0.0.1:8080/v1/workflows/loop-1d0f6a2b9c3e4857/result",
  status: "RUNNING" as const,
  result: null,
  failure: null,
};

/**
 * As {@linkcode started}, of a run that nobody else waits for: it is asked to end where an agent cancels its call, as it
 * may where it cancels its task. One whose agent has only lost its connection ends by itself, and is sealed.
 *
 * @throws {Problem} `Cancelled`
 */
export async function startedAlone(...of: Parameters<typeof started>) {
  const [{ door, signal }, client, { workflowId, firstExecutionRunId }] = of;
  const said = await started(...of);
  const isCancelled = signal.aborted && !(signal.reason instanceof CallerGone);
  if (said.status !== "RUNNING" || door !== "mcp" || !isCancelled) return said;
  const cancelled = () =>
    new Problem("Cancelled", `The caller has cancelled, and so ${workflowId} is ended`);
  await mapTemporalErrors(
    client.workflow.getHandle(workflowId, firstExecutionRunId).cancel(),
    cancelled,
  );
  throw cancelled();
}

/** What is said of a run that was started, after waiting for it where that was asked for. */
export async function started(
  context: Context,
  client: Client,
  { workflowId, firstExecutionRunId }: SharedRun,
  wait: number | undefined,
) {
  const usual = context.door === "rest" ? 0 : TOOL_WAIT_SECONDS;
  const seconds = context.detached ? 0 : wait ?? usual;
  const handle = client.workflow.getHandle(workflowId, firstExecutionRunId);
  const ended = await followLoop(context, client, handle, seconds);
  const failure = ended && "failure" in ended ? ended.failure.message : null;
  const result = ended && "result" in ended ? ended.result as Record<string, unknown> : null;
  return {
    workflow_id: workflowId,
    run_id: firstExecutionRunId,
    result_url: `${context.urls.gateway}/v1/workflows/${encodeURIComponent(workflowId)}/result`,
    status: !ended ? "RUNNING" as const : failure ? "FAILED" as const : "COMPLETED" as const,
    result,
    failure,
  };
}

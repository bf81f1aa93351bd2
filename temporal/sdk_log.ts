/** What Temporal's SDK says, in the lines of the platform's own log. */
import type { LogMetadata } from "@temporalio/worker";
import type { Log } from "../web/mod.ts";

/** Names of the SDK's fields, and how ours are called. */
const FIELDS = {
  activityType: "activity",
  workflowType: "workflow",
  workflowId: "workflow_id",
  workflowRunId: "run_id",
  runId: "run_id",
  attempt: "attempt",
  taskQueue: "task_queue",
  error: "err",
} as const;

/** Writes a message of the SDK, with what it is about: which activity of which run, which attempt, and why. */
export function sdkLogger(log: Log, level: "warn" | "error") {
  return (message: string, about: LogMetadata = {}): void => {
    const named = Object.entries(FIELDS).flatMap(([theirs, ours]) =>
      about[theirs] === undefined ? [] : [[ours, about[theirs]] as const]
    );
    log[level]({ sdk: true, ...Object.fromEntries(named) }, message);
  };
}

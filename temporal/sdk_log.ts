import type { LogMetadata } from "@temporalio/worker";
import type { Logger } from "pino";

/** Names of the SDK's fields, with the names in the platform's log. */
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

/** Installs the SDK's runtime, whose warnings and errors go to the platform's log. Once a process, before any worker. */
export async function installRuntime(log: Logger): Promise<void> {
  const { Runtime } = await import("@temporalio/worker"); // heavy, and needed by workers alone
  const ignore = () => {};
  Runtime.install({
    logger: {
      log: ignore,
      trace: ignore,
      debug: ignore,
      info: ignore,
      warn: createSdkLogger(log, "warn"),
      error: createSdkLogger(log, "error"),
    },
    telemetryOptions: { logging: { forward: {} } }, // else its native part prints to the console
    shutdownSignals: [],
  });
}

/** Returns a function that writes messages of Temporal's SDK to the platform's log, with their activity, run and error. */
export function createSdkLogger(log: Logger, level: "warn" | "error") {
  return (message: string, metadata: LogMetadata = {}): void => {
    const fields = Object.entries(FIELDS).flatMap(([theirs, ours]) =>
      metadata[theirs] === undefined ? [] : [[ours, metadata[theirs]] as const]
    );
    log[level]({ sdk: true, ...Object.fromEntries(fields) }, message);
  };
}

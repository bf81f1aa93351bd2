import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Logger as SdkLogger, LogLevel, LogMetadata } from "@temporalio/worker";
import type { Logger } from "pino";
import { addMetrics } from "../metrics/mod.ts";

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

/**
 * Installs the SDK's runtime, whose warnings and errors go to the platform's log. Once a process, before any worker.
 *
 * @param withMetrics true: its own metrics become a part of the process's
 */
export async function installRuntime(log: Logger, withMetrics = false): Promise<void> {
  const { Runtime } = await import("@temporalio/worker"); // heavy, and needed by workers alone
  const port = withMetrics ? await freeLoopbackPort() : undefined;
  const bindAddress = `127.0.0.1:${port}`;
  Runtime.install({
    logger: createSdkLogger(log),
    telemetryOptions: {
      logging: { forward: {} }, // else its native part prints to the console
      ...(port === undefined ? {} : {
        metrics: {
          prometheus: {
            bindAddress,
            countersTotalSuffix: true,
            unitSuffix: true,
            useSecondsForDurations: true,
          },
        },
      }),
    },
    shutdownSignals: [],
  });
  if (port !== undefined) addMetrics(() => readText(`http://${bindAddress}/metrics`));
}

/** The SDK can serve its metrics over HTTP alone, and takes a port by its number. */
async function freeLoopbackPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function readText(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

/**
 * Returns a logger for Temporal's SDK, which writes its warnings and errors to the platform's log, with their activity,
 * run and error. The runtime sorts all messages by time first, and then calls `log` alone.
 */
export function createSdkLogger(log: Logger): SdkLogger {
  const write = (level: LogLevel, message: string, metadata: LogMetadata = {}) => {
    if (level !== "WARN" && level !== "ERROR") return;
    const fields = Object.entries(FIELDS).flatMap(([theirs, ours]) =>
      metadata[theirs] === undefined ? [] : [[ours, metadata[theirs]] as const]
    );
    log[level === "WARN" ? "warn" : "error"]({ sdk: true, ...Object.fromEntries(fields) }, message);
  };
  const ignore = () => {};
  return {
    log: write,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: (message, metadata) => write("WARN", message, metadata),
    error: (message, metadata) => write("ERROR", message, metadata),
  };
}

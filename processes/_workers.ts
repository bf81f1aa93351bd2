import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { type Config, ROOT } from "../config.ts";

/** Where workers take work from, and what they do it with. */
export interface WorkerParts {
  readonly config: Config;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly activities: object;
  /** Default: the bundle that the build made, or the sources where there is none. */
  readonly workflows?: Pick<WorkerOptions, "workflowBundle" | "workflowsPath">;
}

/** Longest that a worker waits for its activities when it stops; the process is given 9 s. */
const GRACE = "4s";
const FORCE = "7s";
const CACHED_RUNS = 500;

/** Makes one worker for each task queue of `temporal.yaml` that this process takes. */
export async function createWorkers(
  { config, connection, namespace, activities, workflows = workflowCode() }: WorkerParts,
): Promise<Worker[]> {
  const wanted = config.settings.SEALOOP_TASK_QUEUES?.split(",");
  const queues = Object.entries(config.temporal.task_queues)
    .filter(([name]) => wanted?.includes(name) ?? true);
  return await Promise.all(queues.map(([taskQueue, queue]) =>
    Worker.create({
      connection,
      namespace,
      taskQueue,
      activities,
      ...workflows,
      reuseV8Context: true,
      maxConcurrentWorkflowTaskExecutions: queue.workflow_tasks,
      maxConcurrentActivityTaskExecutions: queue.activities,
      maxConcurrentWorkflowTaskPolls: queue.pollers,
      maxConcurrentActivityTaskPolls: queue.pollers,
      maxCachedWorkflows: CACHED_RUNS,
      shutdownGraceTime: GRACE,
      shutdownForceTime: FORCE,
    })
  ));
}

function workflowCode(): Pick<WorkerOptions, "workflowBundle" | "workflowsPath"> {
  const bundle = join(ROOT, "dist", "workflow-bundle.js");
  const compiled = fileURLToPath(import.meta.url).endsWith(".js");
  if (compiled && existsSync(bundle)) return { workflowBundle: { codePath: bundle } };
  return { workflowsPath: fileURLToPath(new URL("../workflows/mod.ts", import.meta.url)) };
}

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker, type WorkerOptions } from "@temporalio/worker";
import { type Config, ROOT } from "../config.ts";
import type { WorkerConnection } from "./mod.ts";

/** Workflows as the SDK takes them: bundled, or their sources; `debugMode`: in no thread of their own. */
export type WorkflowCode = Pick<WorkerOptions, "workflowBundle" | "workflowsPath" | "debugMode">;

/** Where workers take work from, and what they do it with. */
export interface WorkerParts {
  readonly config: Config;
  readonly activities: object;
  /** Default: the bundle that `npm run build` makes. */
  readonly workflows?: WorkflowCode;
  /** Connects to Temporal. */
  connect(): Promise<WorkerConnection>;
  /** Told why the workers stopped without being asked to; they are started again. */
  failed(error: unknown): void;
}

/** Longest that a worker waits for its activities when it stops; the process is given 9 s. */
const GRACE = "4s";
const FORCE = "7s";
const CACHED_RUNS = 500;
/** How long a run waits for the worker that remembers it before any other takes it: that one may be dead. */
const FAITHFUL = "3s";
const PAUSE_MS = 1_000;
const BUILT_WORKFLOWS: WorkflowCode = {
  workflowBundle: { codePath: join(ROOT, "dist", "workflow-bundle.js") },
};
/** Name of the workers' deployment in Temporal. */
const DEPLOYMENT = "sealoop";

/** Workers that take work until they are stopped. */
export interface Workers {
  stop(): Promise<void>;
}

/**
 * Takes work from each task queue of `temporal.yaml` that this process takes. When Temporal goes away for longer than
 * the SDK bears, connects anew until it is there again.
 */
export async function startWorkers(parts: WorkerParts): Promise<Workers> {
  let life = await begin(parts);
  let stopping = false;
  const kept = keep();
  async function keep(): Promise<void> {
    while (!stopping) {
      try {
        await life.ended;
      } catch (error) {
        if (stopping) return;
        parts.failed(error);
        await sleep(PAUSE_MS);
        life = await begin(parts).catch((error): Life => ({
          ended: Promise.reject(error),
          stop: () => Promise.resolve(),
        }));
      }
    }
  }
  return {
    async stop() {
      stopping = true;
      await life.stop();
      await kept;
    },
  };
}

/** One connection with its workers. */
interface Life {
  /** @throws where one of the workers failed */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

async function begin(parts: WorkerParts): Promise<Life> {
  const { connection, namespace } = await parts.connect();
  const workers = await createWorkers(parts, { connection, namespace });
  const running = workers.map((worker) => worker.run());
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const ended = Promise.all(running);
  const closed = ended.catch(shutdown)
    .then(() => Promise.allSettled(running))
    .then(() => connection.close());
  return {
    ended: ended.finally(() => closed),
    async stop() {
      shutdown();
      await closed;
    },
  };
}

function createWorkers(
  { config, activities, workflows = BUILT_WORKFLOWS }: WorkerParts,
  place: WorkerConnection,
): Promise<Worker[]> {
  const wanted = config.settings.SEALOOP_TASK_QUEUES?.split(",");
  const queues = Object.entries(config.temporal.task_queues)
    .filter(([name]) => wanted?.includes(name) ?? true);
  return Promise.all(queues.map(([taskQueue, queue]) =>
    Worker.create({
      ...place,
      ...workflows,
      taskQueue,
      activities,
      reuseV8Context: true,
      maxConcurrentWorkflowTaskExecutions: queue.workflow_tasks,
      maxConcurrentActivityTaskExecutions: queue.activities,
      maxConcurrentWorkflowTaskPolls: queue.pollers,
      maxConcurrentActivityTaskPolls: queue.pollers,
      maxCachedWorkflows: CACHED_RUNS,
      stickyQueueScheduleToStartTimeout: FAITHFUL,
      ...versioning(config.settings.SEALOOP_WORKER_BUILD),
      shutdownGraceTime: GRACE,
      shutdownForceTime: FORCE,
    })
  ));
}

/** Runs that are open go over to the build that is made current: what changes in a workflow is kept apart by `patched()`. */
function versioning(buildId: string | undefined): Pick<WorkerOptions, "workerDeploymentOptions"> {
  if (buildId === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: DEPLOYMENT, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: "AUTO_UPGRADE",
    },
  };
}

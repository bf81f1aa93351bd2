import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker, WorkerOptions } from "@temporalio/worker";
import { type Config, ROOT } from "../config.ts";
import { TASK_QUEUE } from "../domain/mod.ts";
import type { Store } from "../store/mod.ts";
import type { WorkerConnection } from "./connect.ts";
import { workerCodec } from "./payloads.ts";

/** Workflows as the SDK takes them: a bundle, or their sources. `debugMode`: they run in no thread of their own. */
export type WorkflowCode = Pick<WorkerOptions, "workflowBundle" | "workflowsPath" | "debugMode">;

/** Parts of the workers. */
export interface WorkerParts {
  readonly config: Config;
  /** Task queues of `temporal.yaml` to take work from. */
  readonly taskQueues: readonly string[];
  readonly activities: object;
  /** The texts of payloads are kept in it. Absent: payloads have none, and stay as they are. */
  readonly store?: Store;
  /** Default: the bundle that `npm run build` makes. */
  readonly workflows?: WorkflowCode;
  /** Connects to Temporal. */
  connect(): Promise<WorkerConnection>;
  /** Called where the workers stopped without being asked to. They are started again. */
  onFailure(error: unknown): void;
}

/** Running workers. */
export interface Workers {
  stop(): Promise<void>;
}

/** Workers on one connection. */
interface WorkerGroup {
  /** Resolves when all workers have stopped. Rejects where one of them fails. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Time that activities have to end when the workers stop. The process has 9 s. */
const SHUTDOWN_GRACE = "4s";
const SHUTDOWN_FORCE = "7s";
const MAX_CACHED_WORKFLOWS = 500;
/** Time between heartbeats of an activity. The SDK would wait for four fifths of their timeout, and one that is late would end the attempt. */
const HEARTBEAT_INTERVAL = "1s";
/** Time that a run waits for the worker that has it in its cache. That worker may be dead. */
const STICKY_TIMEOUT = "3s";
const RESTART_PAUSE_MS = 1_000;
const BUILT_WORKFLOWS: WorkflowCode = {
  workflowBundle: { codePath: join(ROOT, "dist", "workflow-bundle.js") },
};
/** Name of the workers' deployment in Temporal. */
const DEPLOYMENT = "sealoop";

/** Lists the task queues that a worker takes: those of the setting, or all but the sequencer's. */
export function listWorkerQueues({ settings, temporal }: Config): string[] {
  const wanted = settings.SEALOOP_TASK_QUEUES?.split(",");
  return Object.keys(temporal.task_queues)
    .filter((name) => name !== TASK_QUEUE.sequencer && (wanted?.includes(name) ?? true));
}

/**
 * Starts a worker for each of the task queues. Where Temporal is away for longer than the SDK tolerates,
 * connects again until it is back.
 */
export async function startWorkers(parts: WorkerParts): Promise<Workers> {
  let group: WorkerGroup | undefined = await startGroup(parts);
  let stopping = false;
  const supervision = supervise();
  async function supervise(): Promise<void> {
    while (!stopping) {
      try {
        group ??= await startGroup(parts);
        if (stopping) await group.stop(); // while it was being started
        return await group.ended;
      } catch (error) {
        group = undefined;
        if (stopping) return;
        parts.onFailure(error);
        await sleep(RESTART_PAUSE_MS);
      }
    }
  }
  return {
    async stop() {
      stopping = true;
      await group?.stop();
      await supervision;
    },
  };
}

async function startGroup(parts: WorkerParts): Promise<WorkerGroup> {
  const { connection, namespace } = await parts.connect();
  const workers = await createWorkers(parts, { connection, namespace }).catch(async (error) => {
    await connection.close().catch(() => {}); // refused where some of the workers were created
    throw error;
  });
  const running = workers.map((worker) => worker.run());
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const ended = Promise.all(running).then(() => {});
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

async function createWorkers(
  { config, taskQueues, activities, store, workflows = BUILT_WORKFLOWS }: WorkerParts,
  connection: WorkerConnection,
): Promise<Worker[]> {
  const { Worker } = await import("@temporalio/worker"); // loading it takes half a second, which clients don't need
  const queues = Object.entries(config.temporal.task_queues)
    .filter(([name]) => taskQueues.includes(name));
  return await Promise.all(queues.map(([taskQueue, queue]) =>
    Worker.create({
      ...connection,
      ...workflows,
      taskQueue,
      activities,
      ...(store ? { dataConverter: { payloadCodecs: [workerCodec(store)] } } : {}),
      reuseV8Context: true,
      maxConcurrentWorkflowTaskExecutions: queue.workflow_tasks,
      maxConcurrentActivityTaskExecutions: queue.activities,
      maxConcurrentWorkflowTaskPolls: queue.pollers,
      maxConcurrentActivityTaskPolls: queue.pollers,
      maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
      stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
      maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL,
      ...versioningOptions(config.settings.SEALOOP_WORKER_BUILD),
      shutdownGraceTime: SHUTDOWN_GRACE,
      shutdownForceTime: SHUTDOWN_FORCE,
    })
  ));
}

/** Open runs move to the build that is made current. */
function versioningOptions(
  buildId: string | undefined,
): Pick<WorkerOptions, "workerDeploymentOptions"> {
  if (buildId === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: DEPLOYMENT, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: "AUTO_UPGRADE",
    },
  };
}

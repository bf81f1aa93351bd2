/** The workers of all task queues of a process, on one connection. */
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NativeConnection, Worker, WorkerOptions } from "@temporalio/worker";
import { type Config, ROOT } from "../../config.ts";
import { placeQueue, TASK_QUEUE } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { reportPlace } from "../../store/platform/mod.ts";
import { type PollAges, type WatchedWorker, watchPolls } from "./_poll_watch.ts";
import type { WorkerConnection } from "./connect.ts";
import { authenticatedWork } from "./authenticated_work.ts";

/** Workflows as the SDK takes them: a bundle, or their sources. `debugMode`: they run in no thread of their own. */
type WorkflowCode = Pick<WorkerOptions, "workflowBundle" | "workflowsPath" | "debugMode">;

/** Parts of the workers. */
export interface WorkerParts {
  readonly config: Config;
  /** Task queues of `temporal.yaml` to take work from. */
  readonly taskQueues: readonly string[];
  /** By their task queue of `temporal.yaml`. */
  readonly activities: Readonly<Record<string, object>>;
  /** The texts of payloads are kept in it, and the secret that authenticates them. */
  readonly store: Store;
  /** Default: the bundle that `npm run build` makes. */
  readonly workflows?: WorkflowCode;
  /** Connects to Temporal. */
  connect(): Promise<WorkerConnection>;
  /** Called where the workers stopped without being asked to. They are started again. */
  onFailure(error: unknown): void;
  /**
   * Called where a queue is not polled though database and Temporal answer, or where a worker does not end. Nothing in this
   * process can mend that: end it.
   */
  onStuck(reason: string): void;
  /** Time until {@linkcode onStuck}, milliseconds. Default: 15 s. */
  readonly stuckAfterMs?: number;
}

/** Workers on one connection. */
export interface WorkerGroup {
  /** Resolves when all workers have stopped. Rejects as soon as one of them fails. */
  readonly failed: Promise<void>;
  /** Resolves when all have ended and their connection is closed. */
  readonly closed: Promise<void>;
  pollAges(): PollAges;
  /** Stops the workers, and what waits for the database in them. */
  stop(): Promise<void>;
}

/** Time that activities have to end when the workers stop. The process has 8 s. */
const SHUTDOWN_GRACE = "4s";
const SHUTDOWN_FORCE = "6s";
/** Time until the waiting for a worker's end is given up when the process stops. */
const STOP_TIMEOUT_MS = 7_000;
const STUCK_AFTER_MS = 15_000;
const MAX_CACHED_WORKFLOWS = 500;
/** Time between heartbeats of an activity. The SDK would wait for four fifths of their timeout, and one that is late would end the attempt. */
const HEARTBEAT_INTERVAL = "1s";
/** Time that a run waits for the worker that has it in its cache. That worker may be dead. */
const STICKY_TIMEOUT = "3s";
const BUILT_WORKFLOWS: WorkflowCode = {
  workflowBundle: { codePath: join(ROOT, "dist", "workflow-bundle.js") },
};
/** Name of the workers' deployment in Temporal. */
const DEPLOYMENT = "sealoop";
/** Time between two reports that a place has a worker. */
const PRESENCE_INTERVAL_MS = 3_000;
let count = 0;

/** Starts a worker for each of the task queues. */
export async function startGroup(parts: WorkerParts): Promise<WorkerGroup> {
  const { store, stuckAfterMs: limitMs = STUCK_AFTER_MS } = parts;
  const { connection, namespace } = await parts.connect();
  const identity = `${process.pid}@${hostname()}/${++count}`;
  const ending = new AbortController();
  const workers = await createWorkers(parts, {
    connection,
    namespace,
    identity,
    signal: ending.signal,
  }).catch(async (error) => {
    await connection.close().catch(() => {}); // refused where some of the workers were created
    throw error;
  });
  const running = workers.map(({ worker }) => worker.run());
  const present = keepPlacePresent(parts);
  const watch = watchPolls({
    connection,
    namespace,
    identity,
    workers,
    pingDatabase: async () => void await store.asPlatform().query("SELECT"),
    limitMs,
    onStuck: (reason) => parts.onStuck(reason),
  });
  const shutdown = () => {
    watch.stop();
    clearInterval(present);
    ending.abort();
    for (const { worker } of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const failed = Promise.all(running).then(() => {});
  const closed = failed.catch(shutdown)
    .then(() => Promise.allSettled(running))
    .then(() => watch.stop())
    .finally(() => clearInterval(present))
    .then(() => connection.close());
  failed.catch(() => {});
  closed.catch(() => {});
  return {
    failed,
    closed,
    pollAges: watch.ages,
    async stop() {
      shutdown();
      await Promise.race([closed, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** Tells again and again that the place of this process has a worker. One report that fails is followed by another. */
function keepPlacePresent(
  { config: { place }, taskQueues, store }: WorkerParts,
): NodeJS.Timeout | undefined {
  if (!taskQueues.includes(TASK_QUEUE.act)) return undefined;
  const report = async () => await reportPlace(store.asPlatform(), place);
  const tell = () => void report().catch(() => {});
  tell();
  return setInterval(tell, PRESENCE_INTERVAL_MS).unref();
}

/** Waits until a group that has failed has ended. Calls `onStuck` where that takes too long. */
export async function waitForEnd(
  { closed }: WorkerGroup,
  { onStuck, stuckAfterMs: limitMs = STUCK_AFTER_MS }: WorkerParts,
): Promise<void> {
  const timer = setTimeout(
    () => onStuck(`The workers have not ended ${limitMs / 1_000} s after they were told to`),
    limitMs,
  );
  await closed.catch(() => {});
  clearTimeout(timer);
}

/** Connection and identity of a group. */
interface GroupOptions extends WorkerConnection {
  readonly identity: string;
  /** Aborted when the group is told to end. */
  readonly signal: AbortSignal;
}

async function createWorkers(
  { config, taskQueues, activities, store, workflows = BUILT_WORKFLOWS }: WorkerParts,
  { connection, namespace, identity, signal }: GroupOptions,
): Promise<WatchedWorker[]> {
  // The SDK starts threads for workflows before it looks whether the server has the namespace, and never ends them if not.
  await requireNamespace(connection, namespace);
  const { Worker } = await import("@temporalio/worker"); // loading it takes half a second, which clients don't need
  const queues = Object.entries(config.temporal.task_queues)
    .filter(([name]) => taskQueues.includes(name));
  const created = await Promise.allSettled(queues.map(async ([name, limits]) => {
    const queue = limits.of_each_place ? placeQueue(name, config.place) : name;
    const { workflow_tasks: maxWorkflowTasks = 0, activities: maxActivities } = limits;
    const worker = await Worker.create({
      connection,
      namespace,
      identity,
      ...(maxWorkflowTasks > 0
        ? { ...workflows, maxConcurrentWorkflowTaskExecutions: maxWorkflowTasks }
        : {}),
      taskQueue: queue,
      activities: activities[name] ?? {},
      ...authenticatedWork(store, signal),
      reuseV8Context: true,
      maxConcurrentActivityTaskExecutions: limits.activities,
      maxConcurrentWorkflowTaskPolls: limits.pollers,
      maxConcurrentActivityTaskPolls: limits.pollers,
      maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
      stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
      maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL,
      ...versioningOptions(config.settings.SEALOOP_WORKER_BUILD),
      shutdownGraceTime: SHUTDOWN_GRACE,
      shutdownForceTime: SHUTDOWN_FORCE,
    });
    return { worker, queue, maxWorkflowTasks, maxActivities };
  }));
  const failure = created.find(({ status }) => status === "rejected");
  const workers = created.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  if (failure?.status !== "rejected") return workers;
  await Promise.all(workers.map(({ worker }) => release(worker)));
  throw failure.reason;
}

/** @throws the server does not answer, or does not have it */
async function requireNamespace(connection: NativeConnection, namespace: string): Promise<void> {
  await connection.workflowService.describeNamespace({ namespace });
}

/** Releases a worker that was never run, with its threads: only one that has run lets go of them. */
async function release(worker: Worker): Promise<void> {
  const running = worker.run();
  worker.shutdown();
  await running.catch(() => {});
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

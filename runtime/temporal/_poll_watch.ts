/** Watches whether the workers of a group poll their task queues. */
import type { NativeConnection, Worker } from "@temporalio/worker";
import { withTimeout } from "../../contract/mod.ts";

/** A worker, and the limits of what it does at once. */
export interface WatchedWorker {
  readonly worker: Worker;
  readonly queue: string;
  /** 0: it runs activities alone. */
  readonly maxWorkflowTasks: number;
  readonly maxActivities: number;
}

/** Seconds since the server last saw a poll of this process, by task queue. */
export type PollAges = Readonly<Record<string, number>>;

/** Parts of {@linkcode watchPolls}. */
export interface PollWatchParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** By which the server knows the polls of this group. */
  readonly identity: string;
  readonly workers: readonly WatchedWorker[];
  /** Rejects while the database is away. */
  pingDatabase(): Promise<unknown>;
  /** Time that a queue may stay without polls while database and Temporal answer. */
  readonly limitMs: number;
  /** Called once, with the reason. */
  onStuck(reason: string): void;
}

/** A watch of polls. */
export interface PollWatch {
  ages(): PollAges;
  stop(): void;
}

/** Polls of one kind of one queue. */
interface QueueKind {
  readonly watched: WatchedWorker;
  /** @see temporal.api.enums.v1.TaskQueueType */
  readonly type: 1 | 2;
  /** Time of the newest poll by the server's clock; it is compared for equality alone. */
  access: string;
  /** When a newer poll was seen, by this process's clock. */
  seenAt: number;
}

const CHECK_MS = 2_000;
const CALL_TIMEOUT_MS = 3_000;
/** The server holds a poll for a minute, and then the worker begins another. */
const MAX_POLL_AGE_MS = 90_000;
/** The server can't be reached, so that it has none of the polls any more. */
const UNAVAILABLE = 14;

/**
 * Watches by what the server says about the group's polls, and by the states of its workers. A kind of task whose slots are
 * all taken need not be polled.
 */
export function watchPolls(parts: PollWatchParts): PollWatch {
  const { connection, namespace, identity, workers, limitMs, onStuck } = parts;
  const kinds = workers.flatMap((watched) =>
    (watched.maxWorkflowTasks > 0 ? [1, 2] as const : [2] as const).map((type): QueueKind => ({
      watched,
      type,
      access: "",
      seenAt: now(),
    }))
  );
  /** A poll must be newer than this: the group's beginning, or the return of Temporal. */
  let requiredSince = now();
  /** Since when database and Temporal answer and the queue is not polled. */
  const idleSince = new Map<string, number>();
  /** Since when the worker of a queue is about to end, as after an error of the SDK. */
  const endingSince = new Map<string, number>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    for (const { worker, queue } of workers) {
      const isEnding = worker.getState() !== "RUNNING";
      if (lastsTooLong(endingSince, queue, isEnding)) {
        return stuck(`The worker of ${queue} has not ended ${limitMs / 1_000} s after it began to`);
      }
    }
    if (!await answers()) return idleSince.clear();
    for (const { queue } of workers) {
      const isPolled = kinds.every((kind) => kind.watched.queue !== queue || isPolledOrFull(kind));
      if (lastsTooLong(idleSince, queue, !isPolled)) {
        return stuck(
          `The task queue ${queue} is not polled, ${
            limitMs / 1_000
          } s after database and Temporal answer`,
        );
      }
    }
  }

  /** @param since when it began, by queue */
  function lastsTooLong(since: Map<string, number>, queue: string, isSo: boolean): boolean {
    if (!isSo) since.delete(queue);
    else if (!since.has(queue)) since.set(queue, now());
    return now() - (since.get(queue) ?? now()) >= limitMs;
  }

  /** Reads the newest polls. @returns false while database or Temporal are away */
  async function answers(): Promise<boolean> {
    try {
      await Promise.all([
        withTimeout(CALL_TIMEOUT_MS, parts.pingDatabase()),
        ...kinds.map(readNewestPoll),
      ]);
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === UNAVAILABLE) requiredSince = now();
      return false;
    }
  }

  async function readNewestPoll(kind: QueueKind): Promise<void> {
    const { pollers } = await connection.withDeadline(
      Date.now() + CALL_TIMEOUT_MS,
      () =>
        connection.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: kind.watched.queue },
          taskQueueType: kind.type,
        }),
    );
    const own = pollers!.find((poller) => poller.identity === identity);
    const access = own ? `${own.lastAccessTime?.seconds}.${own.lastAccessTime?.nanos}` : "";
    if (access !== "" && access !== kind.access) kind.seenAt = now();
    kind.access = access;
  }

  function isPolledOrFull({ watched, type, access, seenAt }: QueueKind): boolean {
    const { worker, maxWorkflowTasks, maxActivities } = watched;
    const status = worker.getStatus();
    const [poller, inFlight, max] = type === 1
      ? [status.workflowPollerState, status.numInFlightWorkflowActivations, maxWorkflowTasks]
      : [status.activityPollerState, status.numInFlightActivities, maxActivities];
    if (status.runState !== "RUNNING" || poller !== "POLLING") return false;
    if (inFlight >= max) return true;
    return access !== "" && seenAt >= requiredSince && now() - seenAt < MAX_POLL_AGE_MS;
  }

  function stuck(reason: string): void {
    stop();
    onStuck(reason);
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(timer);
  }

  async function run(): Promise<void> {
    await check();
    if (!isStopped) timer = setTimeout(run, Math.min(CHECK_MS, limitMs / 4)).unref();
  }
  void run();

  return {
    ages: () =>
      Object.fromEntries(workers.map(({ queue }) => {
        const oldest = Math.min(
          ...kinds.filter(({ watched }) => watched.queue === queue).map(({ seenAt }) => seenAt),
        );
        return [queue, Math.round(now() - oldest) / 1_000];
      })),
    stop,
  };
}

const now = () => performance.now();

import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { TASK_QUEUE } from "../../contract/domain/mod.ts";
import type { PollAges } from "./_poll_watch.ts";
import { startGroup, waitForEnd, type WorkerGroup, type WorkerParts } from "./_worker_group.ts";

/** Running workers. */
export interface Workers {
  /** Returns the seconds since the server last saw a poll, by task queue; empty while there are no workers. */
  pollAges(): PollAges;
  /** Stops them. Takes seven seconds at most, also while Temporal or the database are away. */
  stop(): Promise<void>;
}

const RESTART_PAUSE_MS = 1_000;

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
  const stopping = new AbortController();
  const { signal } = stopping;
  void supervise();

  async function supervise(): Promise<void> {
    while (!signal.aborted) {
      try {
        group ??= await startGroup(parts);
        if (signal.aborted) await group.stop(); // while it was being started
        return await group.failed;
      } catch (error) {
        if (signal.aborted) return;
        parts.onFailure(error);
        if (group) await waitForEnd(group, parts);
        group = undefined;
        await sleep(RESTART_PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  return {
    pollAges: () => group?.pollAges() ?? {},
    async stop() {
      stopping.abort();
      await group?.stop();
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { asyncLocalStorage } from "@temporalio/activity";
import { isDatabaseAway } from "../../contract/mod.ts";

const RETRY_MS = 500;

/**
 * Does work on the database, again while the database is away. An activity that waits keeps sending heartbeats.
 *
 * @param signal ends the waiting
 * @throws whatever the work throws, where the database is there or the signal is aborted
 */
export async function waitForDatabase<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error) || signal?.aborted) throw error;
      asyncLocalStorage.getStore()?.heartbeat();
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {}); // aborted: it is tried once more
    }
  }
}

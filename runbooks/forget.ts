/** What is kept for a while, and removed when nobody needs it any more. */
import { setTimeout as sleep } from "node:timers/promises";
import { deleteOldAside, deleteOldMarks } from "./in_force.ts";
import { pruneUsage, type Store } from "../store/mod.ts";
import type { Parts } from "../processes/_process.ts";

const DAY_MS = 86_400_000;

/** Every day, removes what acts on this host have left, and counts of uses in periods of long ago. */
export async function keepDeletingOldData(
  { config, store, log, signal }: Pick<Parts, "config" | "log"> & {
    readonly store: Store;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    const forgotten = await Promise.allSettled([
      pruneUsage(store.asPlatform()),
      forgetActs(),
    ]);
    for (const one of forgotten) {
      if (one.status === "fulfilled") continue;
      log.warn(
        { err: one.reason },
        "Not all could be removed that nobody needs; trying again tomorrow",
      );
    }
    await sleep(DAY_MS, undefined, { signal, ref: false }).catch(() => {});
  }

  async function forgetActs(): Promise<void> {
    deleteOldAside(config);
    await deleteOldMarks(config, store);
  }
}

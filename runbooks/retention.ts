/** Deletes data that is not needed any more: marks of acts, files moved aside, usage counts, old evidence. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { deleteOldEvidence } from "../ledger/mod.ts";
import {
  findNeededEffects,
  listTenants,
  prunePrivateTexts,
  pruneUsage,
  type Store,
} from "../store/mod.ts";
import { deleteExpiredAside } from "./_aside.ts";
import { listExpiredMarks, MARK_RETENTION_DAYS, removeMarks } from "./_old_marks.ts";

const DAY_MS = 86_400_000;
/** Longest that a run takes, apart from its waits for approvals: a conversation of 50 messages, one a day. */
const MAX_RUN_DAYS = 60;

/**
 * Deletes the marks of acts on this host, a week after they have ended and their ticket was closed. Marks of acts that are
 * open or unknown stay: their outcome may still be found out.
 *
 * @returns how many acts
 */
export async function deleteOldMarks(
  { dataDir }: Pick<Config, "dataDir">,
  store: Store,
): Promise<number> {
  const expired = listExpiredMarks(dataDir);
  if (expired.length === 0) return 0;
  const needed = new Set<string>();
  for (const tenant of await listTenants(store.asPlatform())) {
    const db = store.asTenant(tenant);
    for (const id of await findNeededEffects(db, expired, MARK_RETENTION_DAYS)) needed.add(id);
  }
  const deletable = expired.filter((id) => !needed.has(id));
  removeMarks(dataDir, deletable);
  return deletable.length;
}

/** Deletes the texts of runs that have ended and whose histories Temporal has deleted. */
async function deleteOldPrivateTexts({ temporal }: Config, store: Store): Promise<void> {
  for (const tenant of await listTenants(store.asPlatform())) {
    await prunePrivateTexts(store.asTenant(tenant), MAX_RUN_DAYS + temporal.retention_days);
  }
}

/** Deletes old data every day until the signal. */
export async function keepDeletingOldData(
  { config, store, log, signal }: {
    readonly config: Config;
    readonly store: Store;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    const deletions = await Promise.allSettled([
      pruneUsage(store.asPlatform()),
      deleteOldEvidence(store, {
        days: config.settings.SEALOOP_EVIDENCE_DAYS,
        anonymousDays: config.settings.SEALOOP_EVIDENCE_ANONYMOUS_DAYS,
      }),
      Promise.resolve().then(() => deleteExpiredAside(config.dataDir)),
      deleteOldMarks(config, store),
      deleteOldPrivateTexts(config, store),
    ]);
    for (const deletion of deletions) {
      if (deletion.status === "fulfilled") continue;
      log.warn({ err: deletion.reason }, "Old data could not be deleted; trying again tomorrow");
    }
    await sleep(DAY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Deletes data that is not needed any more: marks of acts, files moved aside, usage counts, old evidence, outputs, media. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { deleteOldEvidence } from "../../ledger/mod.ts";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import { prunePrivateTexts, type Store } from "../../store/mod.ts";
import { pruneUsage } from "../../store/calls/mod.ts";
import { pruneDeviceRecords } from "../../store/devices/mod.ts";
import { findNeededEffects, pruneSilences } from "../../store/incidents/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { pruneSpans } from "../../store/platform/mod.ts";
import { deleteExpiredAside } from "./_aside.ts";
import { listExpiredMarks, MARK_RETENTION_DAYS, removeMarks } from "./_old_marks.ts";
import { listNeededFiles, pruneCards } from "../../store/media/mod.ts";

const DAY_MS = 86_400_000;
/** Longest that a run takes, apart from its waits for approvals: a conversation of 50 messages, one a day. */
const MAX_RUN_DAYS = 60;
/** Time in which who asked for a post takes its card. */
const CARD_DAYS = 14;

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

/** Deletes silences of alerts whose run has ended. */
async function deleteOldSilences(store: Store): Promise<void> {
  for (const tenant of await listTenants(store.asPlatform())) {
    await pruneSilences(store.asTenant(tenant), MAX_RUN_DAYS);
  }
}

/** Deletes outputs of commands and statements of devices. */
async function deleteOldDeviceRecords({ settings }: Config, store: Store): Promise<void> {
  const days = settings.SEALOOP_COMMAND_DAYS;
  if (days === 0) return;
  for (const tenant of await listTenants(store.asPlatform())) {
    await pruneDeviceRecords(store.asTenant(tenant), days);
  }
}

/** Deletes old cards of posts, and files of media that no tenant needs. */
async function deleteOldMedia(config: Config, store: Store): Promise<void> {
  const tenants = await listTenants(store.asPlatform());
  for (const tenant of tenants) await pruneCards(store.asTenant(tenant), CARD_DAYS);
  await openMediaFiles(config).sweep(async () => {
    const needed = new Set<string>();
    for (const tenant of await listTenants(store.asPlatform())) {
      for (const sha256 of await listNeededFiles(store.asTenant(tenant))) needed.add(sha256);
    }
    return needed;
  });
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
      pruneSpans(store.asPlatform(), config.settings.SEALOOP_SPAN_DAYS),
      deleteOldEvidence(store, {
        days: config.settings.SEALOOP_EVIDENCE_DAYS,
        anonymousDays: config.settings.SEALOOP_EVIDENCE_ANONYMOUS_DAYS,
      }),
      Promise.resolve().then(() => deleteExpiredAside(config.dataDir)),
      deleteOldMarks(config, store),
      deleteOldPrivateTexts(config, store),
      deleteOldDeviceRecords(config, store),
      deleteOldSilences(store),
      deleteOldMedia(config, store),
    ]);
    for (const deletion of deletions) {
      if (deletion.status === "fulfilled") continue;
      log.warn({ err: deletion.reason }, "Old data could not be deleted; trying again tomorrow");
    }
    await sleep(DAY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

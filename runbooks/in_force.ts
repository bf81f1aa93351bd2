import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Config, ROOT } from "../config.ts";
import {
  type Catalogue,
  deleteExpiredAside,
  listExpiredMarks,
  loadRunbooks,
  MARK_RETENTION_DAYS,
  removeMarks,
} from "./mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { findNeededEffects, replaceCommands, replaceRunbooks, type Store } from "../store/mod.ts";

/** Name in receipts of who puts runbooks in force: whoever may change the files and restart the worker. */
const ACTOR = "operator";

/**
 * The runbooks that come with the product, and the user's own.
 *
 * @throws {BadRunbook} names file and line
 */
export function loadCatalogue({ settings, dataDir }: Config): Catalogue {
  const own = settings.SEALOOP_RUNBOOKS ?? join(dataDir, "runbooks");
  return loadRunbooks(join(ROOT, "runbooks"), own);
}

/**
 * Puts the runbooks of the files in force, and seals what changed: of each the hash before and after. Safe to repeat:
 * what is in force already is no change.
 */
export async function putInForce(store: Store, catalogue: Catalogue): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    const runbooks = catalogue.runbooks.map(({ origin, sha256, ...document }) => ({
      name: document.runbook,
      version: document.version,
      origin,
      sha256,
      document,
    }));
    const changes = await replaceRunbooks(trx, runbooks);
    if (changes.length > 0) {
      await requestSeal(trx, {
        category: "runbook_change",
        actor: ACTOR,
        subject: "runbooks",
        action: "runbooks.put_in_force",
        outcome: "in_force",
        details: {
          in_force: runbooks.length,
          all_sha256: hashOf(runbooks.map(({ sha256 }) => sha256)),
          changes: changes.map(({ name, origin, before, after }) => ({
            ...(origin === "shipped" ? { runbook: name } : {}),
            before_sha256: before,
            after_sha256: after,
          })),
        },
        evidence: { changes },
      });
    }
    const commands = await replaceCommands(trx, catalogue.commands_sha256);
    if (!commands) return;
    await requestSeal(trx, {
      category: "config_change",
      actor: ACTOR,
      subject: "runbook-commands",
      action: "commands.put_in_force",
      outcome: "in_force",
      details: { before_sha256: commands.before, after_sha256: catalogue.commands_sha256 },
      evidence: { commands: catalogue.commands },
    });
  });
}

/** Deletes what runbooks have moved into the data folder and nobody wanted back in time. */
export function deleteOldAside({ dataDir }: Config): void {
  deleteExpiredAside(dataDir);
}

/**
 * Removes what acts on this host have left of themselves, a week after they have ended and their ticket was closed. What
 * is open or unknown stays: by its marks somebody may yet find out what became of it.
 *
 * @returns how many acts
 */
export async function deleteOldMarks({ dataDir }: Config, store: Store): Promise<number> {
  const old = listExpiredMarks(dataDir);
  if (old.length === 0) return 0;
  const needed = await findNeededEffects(store.asPlatform(), old, MARK_RETENTION_DAYS);
  const forgotten = old.filter((id) => !needed.has(id));
  removeMarks(dataDir, forgotten);
  return forgotten.length;
}

const hashOf = (hashes: readonly string[]) =>
  createHash("sha256").update([...hashes].sort().join("\n")).digest("hex");

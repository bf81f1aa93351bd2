import { join } from "node:path";
import type { Logger } from "pino";
import { type Config, ROOT } from "../../config.ts";
import { followSettingsFile } from "../../integrations/settings_files/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { type InForce, replaceCommands, replaceRunbooks } from "../../store/catalogue/mod.ts";
import { type Catalogue, loadRunbooks } from "./load.ts";

/** Folder of the runbooks that come with the product. */
export const SHIPPED_RUNBOOKS: string = join(ROOT, "judgement", "runbooks", "shipped");
/** Actor in receipts: whoever may change the files. */
const ACTOR = "operator";

/**
 * Loads the shipped runbooks and the user's own.
 *
 * @throws {BadRunbook} names file and line
 */
export function loadCatalogue(config: Pick<Config, "settings" | "dataDir">): Catalogue {
  return loadRunbooks(SHIPPED_RUNBOOKS, runbooksFolder(config));
}

/** Returns the folder of the user's own runbooks, which need not exist. */
export function runbooksFolder(
  { settings, dataDir }: Pick<Config, "settings" | "dataDir">,
): string {
  return settings.SEALOOP_RUNBOOKS ?? join(dataDir, "runbooks");
}

/** Runbooks of this host, while their folder is being followed. */
export interface FollowedRunbooks {
  /** Returns those that are in force here. */
  current(): Catalogue;
  stop(): void;
}

/**
 * Follows the user's folder: puts its runbooks in force now and whenever a file of it has changed. While one of them is
 * wrong, those before stay in force, or else those that ship.
 */
export async function followRunbooks(
  config: Config,
  store: Store,
  log: Logger,
): Promise<FollowedRunbooks> {
  let current = loadRunbooks(SHIPPED_RUNBOOKS);
  const folder = {
    name: "runbooks",
    path: runbooksFolder(config),
    async apply() {
      const catalogue = loadCatalogue(config);
      for (const { name, source } of await putInForce(store, catalogue)) {
        log.info({ name, source }, "A runbook of another folder stays in force");
      }
      current = catalogue;
    },
  } as const;
  const { stop } = await followSettingsFile(folder, store, log);
  return { current: () => current, stop };
}

/**
 * Puts the runbooks of the files in force, and seals each change. Public are the names and hashes of those that ship; of
 * the user's own there are commitments alone. Safe to repeat: runbooks that are in force already are no change.
 *
 * @returns runbooks in force that the folders of other workers have brought, or this one's before it went missing
 */
export async function putInForce(store: Store, catalogue: Catalogue): Promise<readonly InForce[]> {
  const { name, exists } = catalogue.source;
  const runbooks = catalogue.runbooks.map(({ origin, sha256, ...document }) => ({
    name: document.runbook,
    version: document.version,
    origin,
    sha256,
    source: origin === "user" ? name : "",
    document,
  }));
  return await store.asPlatform().transaction(async (trx) => {
    const { changes, kept } = await replaceRunbooks(trx, runbooks, exists ? name : undefined);
    if (changes.length > 0) {
      await requestSeal(trx, {
        category: "runbook_change",
        actor: ACTOR,
        subject: "runbooks",
        action: "runbooks.put_in_force",
        outcome: "in_force",
        details: {
          in_force: runbooks.length + kept.length,
          own_changes: changes.filter(({ origin }) => origin === "user").length,
          changes: changes.filter(({ origin }) => origin === "shipped")
            .map(({ name, before, after }) => ({
              runbook: name,
              before_sha256: before,
              after_sha256: after,
            })),
        },
        evidence: { changes, in_force: runbooks.map(({ document: _, ...named }) => named) },
      });
    }
    const commands = await replaceCommands(trx, catalogue.commands_sha256);
    if (!commands) return kept;
    await requestSeal(trx, {
      category: "config_change",
      actor: ACTOR,
      subject: "runbook-commands",
      action: "commands.put_in_force",
      outcome: "in_force",
      evidence: {
        commands: catalogue.commands,
        hashes: { before: commands.before, after: catalogue.commands_sha256 },
      },
    });
    return kept;
  });
}

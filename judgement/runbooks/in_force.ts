import { join } from "node:path";
import { type Config, ROOT } from "../../config.ts";
import { type FollowedFile, IN_FORCE, settingsFilePath } from "../../integrations/files/mod.ts";
import { type Follower, followSettingsFile } from "../../integrations/settings_files/mod.ts";
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
export function loadCatalogue(
  config: Pick<Config, "settings" | "dataDir" | "readsCopies">,
): Catalogue {
  return loadRunbooks(SHIPPED_RUNBOOKS, settingsFilePath(config, "runbooks"));
}

/** Runbooks, while their folder is being followed. */
export interface FollowedRunbooks extends FollowedFile {
  /** Returns those that are in force. */
  current(): Catalogue;
}

/**
 * Follows the user's folder, as {@linkcode followSettingsFile} does. Where nothing of it is in force, the runbooks that ship
 * are.
 */
export async function followRunbooks(follower: Follower): Promise<FollowedRunbooks> {
  let current = loadRunbooks(SHIPPED_RUNBOOKS);
  const folder = {
    name: "runbooks",
    check: (path: string) => loadRunbooks(SHIPPED_RUNBOOKS, path),
    async apply(path: string, exists: boolean) {
      const catalogue = {
        ...loadRunbooks(SHIPPED_RUNBOOKS, path),
        source: { name: IN_FORCE, exists },
      };
      await putInForce(follower.store, catalogue);
      current = catalogue;
    },
  } as const;
  return { ...await followSettingsFile(folder, follower), current: () => current };
}

/**
 * Puts the runbooks of the files in force, and seals each change. Public are the names and hashes of those that ship; of
 * the user's own there are commitments alone. Safe to repeat: runbooks that are in force already are no change.
 *
 * @returns runbooks in force that other folders have brought, or this one before it went missing
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

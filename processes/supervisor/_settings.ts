import { hostname } from "node:os";
import { BadSetting, type Config } from "../../config.ts";
import { applyGovernanceFile, governanceFileOf } from "../../calls/governance/mod.ts";
import { describeMistake, noteSettingsFile } from "../../integrations/settings_files/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { listSettingsFilesOf } from "../../store/platform/mod.ts";
import { type CheckedFile, checkSettingsFiles } from "../_settings_files.ts";

/**
 * Checks the settings files before the first process reads them, and puts the governance file in force before the first call
 * can arrive.
 *
 * A file that is wrong, and that was never in force here, ends the start: nobody knows what the operator meant, and they sit
 * at the terminal. Where it was in force before, the platform starts without what is wrong, as a machine that restarts at
 * night has to; the terminal, the feed and the status say so.
 *
 * @throws {BadSetting} naming each file that was never in force, with its mistakes
 */
export async function applySettings(config: Config, operatorUrl: string): Promise<void> {
  const store = openStore(operatorUrl, "operator", 1);
  try {
    const files = checkSettingsFiles(config);
    const refused = files.filter(({ mistakes }) => mistakes.length > 0);
    for (const { name, path, mistakes } of refused) {
      await noteSettingsFile(store, { name, path }, mistakes);
    }
    await refuseUnknown(refused, store);
    if (!refused.some(({ name }) => name === "governance")) {
      await applyGovernanceFile(governanceFileOf(config), store);
    }
  } finally {
    await store.close();
  }
}

async function refuseUnknown(refused: readonly CheckedFile[], store: Store): Promise<void> {
  const known = await listSettingsFilesOf(store.asPlatform(), hostname());
  const taken = new Set(known.flatMap(({ name, takenAt }) => takenAt ? [name] : []));
  const unknown = refused.filter(({ name }) => !taken.has(name));
  if (unknown.length === 0) return;
  const lines = unknown.flatMap(({ mistakes }) => mistakes.map(describeMistake));
  throw new BadSetting(
    `Cannot start, as settings files are wrong that were never in force:\n  ${
      lines.join("\n  ")
    }\nMend or remove them, and start again; npm run check-files checks them without a start`,
  );
}

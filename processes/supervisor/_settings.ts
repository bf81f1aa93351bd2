import { BadSetting, type Config } from "../../config.ts";
import { applyGovernanceText } from "../../calls/governance/mod.ts";
import { describeMistake } from "../../integrations/settings_files/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { findConfigInForce, listSettingsFilesOf } from "../../store/platform/mod.ts";
import { type CheckedFile, checkSettingsFiles, putOwnFiles } from "../_settings_files.ts";

/** Files that are read before a worker has put them. */
const READ_FIRST = ["governance", "detectors", "comms", "peers", "mail", "pipelines"] as const;

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
    const wrong = checkSettingsFiles(config).filter(({ mistakes }) => mistakes.length > 0);
    const names = await putOwnFiles(config, store, wrong.map(({ name }) => name));
    await refuseUnknown(config, wrong.filter(({ name }) => names.includes(name)), store);
    await putOwnFiles(config, store, READ_FIRST.filter((name) => !names.includes(name)));
    const inForce = await findConfigInForce(store.asPlatform(), { file: "governance", place: "" });
    if (inForce) await applyGovernanceText(inForce.content, store);
  } finally {
    await store.close();
  }
}

async function refuseUnknown(
  { place }: Config,
  refused: readonly CheckedFile[],
  store: Store,
): Promise<void> {
  const known = await listSettingsFilesOf(store.asPlatform(), place);
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

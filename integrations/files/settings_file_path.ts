import { join, resolve } from "node:path";
import type { Config } from "../../config.ts";
import { SETTINGS_FILES, type SettingsFileName } from "../../contract/domain/mod.ts";

/** The configuration, as far as it says where settings files are. */
type Where = Pick<Config, "settings" | "dataDir" | "readsCopies">;

/** Folder of the data folder with copies of the settings files in force. */
const COPIES = "in_force";

/** Returns the path at which a settings file is read: of the copy of what is in force, or of the file of this machine. */
export function settingsFilePath(config: Where, name: SettingsFileName): string {
  return config.readsCopies ? copyPath(config, name) : ownFilePath(config, name);
}

/** Returns the path of the file of this machine, whatever is in force. It need not exist. */
export function ownFilePath({ settings, dataDir }: Where, name: SettingsFileName): string {
  const { setting, file } = SETTINGS_FILES[name];
  return resolve(settings[setting] ?? join(dataDir, file));
}

/** Returns the path of the copy of what is in force. It does not exist where nothing is. */
export function copyPath({ dataDir }: Pick<Where, "dataDir">, name: SettingsFileName): string {
  return join(dataDir, COPIES, SETTINGS_FILES[name].file);
}

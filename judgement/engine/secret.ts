import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { readOrCreateSecret } from "../../integrations/files/mod.ts";

/** Name of the file in the data folder with the secret, where no setting has it. */
export const ENGINE_SECRET_FILE = "engine.secret";

/**
 * Returns the secret that the engine shares with its clients, from the setting or the file of the data folder. The first
 * process creates the file.
 */
export function loadEngineSecret(
  { settings, dataDir }: Pick<Config, "settings" | "dataDir">,
): string {
  const create = () => Buffer.from(`${randomBytes(32).toString("base64url")}\n`);
  return settings.SEALOOP_ENGINE_SECRET ??
    readOrCreateSecret(join(dataDir, ENGINE_SECRET_FILE), create).toString().trim();
}

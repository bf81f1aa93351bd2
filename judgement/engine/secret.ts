import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readOrCreateSecret } from "../../integrations/files/mod.ts";

/**
 * Returns the secret that the engine shares with its clients, from the file `engine.secret` of the data folder. The first
 * process creates the file.
 */
export function loadEngineSecret(dataDir: string): string {
  const create = () => Buffer.from(`${randomBytes(32).toString("base64url")}\n`);
  return readOrCreateSecret(join(dataDir, "engine.secret"), create).toString().trim();
}

import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the secret that the engine shares with its clients, from the file `engine.secret` of the data folder, which only
 * its owner can read. The first process creates the file; the others never see half of it.
 */
export function loadEngineSecret(dataDir: string): string {
  const path = join(dataDir, "engine.secret");
  return readSecret(path) ?? createSecret(dataDir, path);
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function createSecret(dataDir: string, path: string): string {
  const temporary = `${path}.${process.pid}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  writeFileSync(temporary, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(path, "utf8").trim();
}

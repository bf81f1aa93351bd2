import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What the engine and those who ask it both know, from the file `engine.secret` of the data folder, which only its owner
 * can read. Whoever comes first makes it; the others find it whole.
 */
export function sharedSecret(dataDir: string): string {
  const path = join(dataDir, "engine.secret");
  return readSecret(path) ?? makeSecret(dataDir, path);
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function makeSecret(dataDir: string, path: string): string {
  const mine = `${path}.${process.pid}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  writeFileSync(mine, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    linkSync(mine, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(mine, { force: true });
  }
  return readFileSync(path, "utf8").trim();
}

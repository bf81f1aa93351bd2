/** The folder of programs that were fetched. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

const DAY_MS = 86_400_000;
/** Part of the names of folders in which something is being installed. */
const INSTALL = "-new-";

/** Returns the folder of programs that were fetched, which all data folders of a user share. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sealoop");
}

/** Makes an empty folder in the cache, to install something into. Returns its path. */
export function makeInstallFolder(name: string): string {
  mkdirSync(cacheFolder(), { recursive: true });
  return mkdtempSync(join(cacheFolder(), `${name}${INSTALL}`));
}

/** Removes folders of installations whose process was killed, once they are a day old. */
export async function removeStaleInstalls(): Promise<void> {
  const names = await readdir(cacheFolder()).catch(() => []); // there is no cache yet
  for (const name of names.filter((name) => name.includes(INSTALL))) {
    const path = join(cacheFolder(), name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity })); // it is gone
    if (Date.now() - mtimeMs < DAY_MS) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {}); // it is only in the way
  }
}

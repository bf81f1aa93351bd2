import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file whole and flushes it to disk: a crash leaves the old text or the new one. */
export async function writeDurably(path: string, text: string, mode = 0o644): Promise<void> {
  const fresh = `${path}.${randomUUID()}.new`; // several processes may write the same
  const file = await open(fresh, "w", mode);
  try {
    await file.writeFile(text);
    await file.sync();
    await rename(fresh, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Returns a file's text, or undefined where there is no such file. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Flushes the names in a folder to disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}

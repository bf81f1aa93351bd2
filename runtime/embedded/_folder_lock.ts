import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "./_data_folder.ts";
import { EmbeddedError } from "./_errors.ts";
import { bootId, isRunning, type ProcessId } from "./process_id.ts";

/** The process that holds a lock. */
type Owner = ProcessId & { readonly boot: string };

/**
 * Takes `run.lock`. It is written under another name first, so that it is never seen half-written.
 *
 * @throws {EmbeddedError} another process has it
 */
export function lockFolder(dataDir: string, self: ProcessId): void {
  const path = lockPath(dataDir);
  const mine = `${path}.${self.pid}`;
  const content: Owner = { ...self, boot: bootId() };
  writeFileSync(mine, JSON.stringify(content), { mode: 0o600 });
  try {
    while (!link(mine, path)) {
      const owner = readJson(path) as Owner | undefined;
      if (owner && isHeld(owner)) throw inUse(dataDir, owner);
      removeStale(path, `${mine}.stale`);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Releases `run.lock`. */
export function unlockFolder(dataDir: string): void {
  rmSync(lockPath(dataDir), { force: true });
}

function lockPath(dataDir: string): string {
  return join(dataDir, "run.lock");
}

function isHeld(owner: Owner): boolean {
  return owner.boot === bootId() && isRunning(owner);
}

function inUse(dataDir: string, { pid }: Owner): EmbeddedError {
  return new EmbeddedError(
    `Another sealoop (pid ${pid}) runs on the data in ${dataDir}. ` +
      "Stop that one, or set SEALOOP_DATA to another folder",
  );
}

/** @returns false where there is such a file already */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a stale lock. Where it was taken again at that very moment, it is put back. */
function removeStale(path: string, aside: string): void {
  try {
    renameSync(path, aside);
  } catch {
    return; // another process has just done so
  }
  const moved = readJson(aside) as Owner | undefined;
  if (moved && isHeld(moved)) link(aside, path);
  rmSync(aside, { force: true });
}

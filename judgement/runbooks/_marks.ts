/** Marks: small files by which an act is recognized after a crash, and by other processes. */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { pathBelow } from "../../integrations/files/mod.ts";

/** Returns the folder of an act's marks. */
export function marksFolder(dataDir: string, effectId: string): string {
  return pathBelow(join(dataDir, "effects"), effectId);
}

/**
 * Creates a mark, unless it exists. Of several processes that create the same mark, one succeeds. The mark appears with all
 * of its text, and survives a crash of the machine.
 *
 * @returns false where it existed already
 */
export function createMark(folder: string, name: string, text: string): boolean {
  const fresh = writeFresh(folder, name, text);
  try {
    linkSync(fresh, join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(fresh);
  }
  syncFolder(folder);
  return true;
}

/** Writes a mark, replacing the one of that name. It is as durable as that of {@linkcode createMark}. */
export function writeMark(folder: string, name: string, text: string): void {
  renameSync(writeFresh(folder, name, text), join(folder, name));
  syncFolder(folder);
}

/** Returns a mark's text; undefined: there is no such mark. */
export function readMark(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), "utf8");
  } catch {
    return undefined;
  }
}

/** Writes a text to a file that no other process writes. @returns its path */
function writeFresh(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}.${process.pid}.new`);
  const file = openSync(path, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return path;
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

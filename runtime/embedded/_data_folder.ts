import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedError } from "./_errors.ts";

const NO_PERMISSION =
  "permission is missing. Change its owner, or set SEALOOP_DATA to a folder of yours";

/** Explanations of the system's error codes. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: "the file system is read-only. Set SEALOOP_DATA to a folder elsewhere",
  ENOTDIR: "a part of that path is a file. Set SEALOOP_DATA to a folder",
  EEXIST: "it is a file. Set SEALOOP_DATA to a folder",
  ENOENT: "no folder can be created there. Set SEALOOP_DATA to a folder elsewhere",
  ENOSPC: "the disk is full. Free some space, or set SEALOOP_DATA to a folder elsewhere",
  EDQUOT: "the disk quota is used up. Free some space, or set SEALOOP_DATA to a folder elsewhere",
};

/** Creates the data folder where it is missing. @throws {EmbeddedError} it can't be written to */
export function makeDataFolder(dataDir: string): void {
  try {
    // Others may pass through, as PostgreSQL's own user must, but not list it.
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
    const probe = join(dataDir, `.writable-${process.pid}`);
    writeFileSync(probe, "");
    rmSync(probe);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    const reason = REASONS[code] ?? code;
    throw new EmbeddedError(`Cannot write to the data folder ${dataDir}: ${reason}`);
  }
}

/** Reads a JSON file; undefined: it is missing or damaged. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

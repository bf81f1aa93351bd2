import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";

/**
 * A file, or a folder of files, that brings rows into the database. Rows remember it: what it lacks deletes only what it
 * had brought, and one that is missing deletes nothing. So workers on several hosts, each with files of its own, add to
 * each other.
 */
export interface FileSource {
  /** `host:path`. */
  readonly name: string;
  readonly exists: boolean;
}

/** Name of what the settings files in force have brought. */
export const IN_FORCE = "in_force";

/** Describes a file or folder of this host as it is now. */
export function fileSource(path: string): FileSource {
  const absolute = resolve(path);
  return { name: `${hostname()}:${absolute}`, exists: existsSync(absolute) };
}

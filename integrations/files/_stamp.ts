import { statSync } from "node:fs";

/** Returns a text that differs once the file was written anew; undefined: there is no file. */
export function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
}

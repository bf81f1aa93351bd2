import { statSync } from "node:fs";

/** What differs when a file has been written anew; undefined: there is none. */
export function stampOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.mtimeMs} ${found.size} ${found.ino}`;
}

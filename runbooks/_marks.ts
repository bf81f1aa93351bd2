import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Folder of what an act leaves of itself. */
export const marksOf = (dataDir: string, effectId: string) => join(dataDir, "effects", effectId);

/** Leaves a mark that is there as a whole or not at all, and survives the machine's fall. */
export function leaveMark(marks: string, name: string, text: string): void {
  mkdirSync(marks, { recursive: true });
  const path = join(marks, name);
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** A mark's text, or undefined where it was not left. */
export function markOf(marks: string, name: string): string | undefined {
  try {
    return readFileSync(join(marks, name), "utf8");
  } catch {
    return undefined;
  }
}

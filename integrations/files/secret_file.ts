import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Returns the content of a file that only its owner can read. Creates the file where it is missing, with its folder.
 *
 * If several processes create it at once, all get the content of the first. The file appears with all of its content,
 * and survives a crash of the machine.
 *
 * @param create returns the content of a new file
 */
export function readOrCreateSecret(path: string, create: () => Buffer): Buffer {
  return readIfPresent(path) ?? createOnce(path, create());
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function createOnce(path: string, content: Buffer): Buffer {
  const temporary = `${path}.${randomBytes(4).toString("hex")}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
  writeFileSync(temporary, content, { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary);
  }
  return readFileSync(path);
}

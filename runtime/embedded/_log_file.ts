import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync } from "node:fs";
import { join } from "node:path";

/** Maximum of bytes from the end of a log that are read. */
const MAX_BYTES = 8192;

/** Returns the path of the log of one part of the platform. */
export function logPath(dataDir: string, name: string): string {
  return join(dataDir, "logs", `${name}.log`);
}

/** Opens a new log and keeps the one before as `<name>.1.log`. The caller closes the descriptor. */
export function openLog(dataDir: string, name: string): number {
  const path = logPath(dataDir, name);
  mkdirSync(join(dataDir, "logs"), { recursive: true, mode: 0o700 });
  try {
    renameSync(path, path.replace(/\.log$/, ".1.log"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return openSync(path, "a", 0o600);
}

/** Returns the last lines of a log that are not empty, oldest first. */
export function readLastLines(dataDir: string, name: string, count = 1): string[] {
  let fd: number;
  try {
    fd = openSync(logPath(dataDir, name), "r");
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(MAX_BYTES, size));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8").split("\n").filter((line) => line.trim()).slice(-count);
  } finally {
    closeSync(fd);
  }
}

/** Start of PostgreSQL's lines: date, process, level, and what was being done. */
const POSTGRES_PREFIX = /^.*? UTC \[\d+\] [A-Z]+: +/;

/** Returns the first line of a log that reports an error, or else its last one. */
export function readErrorLine(dataDir: string, name: string, pattern: RegExp): string {
  const lines = readLastLines(dataDir, name, 100);
  const line = lines.find((line) => pattern.test(line)) ?? lines.at(-1) ?? "its log is empty";
  return line.replace(POSTGRES_PREFIX, "").trim();
}

import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
} from "node:fs";
import { join } from "node:path";

/** Longest tail of a log that is looked at, bytes. */
const TAIL = 8192;

/** Where the log of one part of the platform is. */
export function logPath(dataDir: string, name: string): string {
  return join(dataDir, "logs", `${name}.log`);
}

/** Opens a fresh log, keeping the one before it as `<name>.1.log`. The caller closes the descriptor. */
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

/** The last lines of a log that are not empty, oldest first. */
export function readLastLines(dataDir: string, name: string, count = 1): string[] {
  let fd: number;
  try {
    fd = openSync(logPath(dataDir, name), "r");
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(TAIL, size));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8").split("\n").filter((line) => line.trim()).slice(-count);
  } finally {
    closeSync(fd);
  }
}

/** What stands before PostgreSQL's own words: date, process, level, and what was being done. */
const PREFIX = /^.*? UTC \[\d+\] [A-Z]+: +/;

/** The first line of a log that speaks of an error, or else its last one. */
export function telling(dataDir: string, name: string, pattern: RegExp): string {
  const lines = readLastLines(dataDir, name, 100);
  return (lines.find((line) => pattern.test(line)) ?? lines.at(-1) ?? "it said nothing").replace(
    PREFIX,
    "",
  ).trim();
}

/** @returns the parsed content of a JSON file, or undefined where there is no such file or no JSON in it */
/** A JSON file's value; undefined where it is missing or damaged. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

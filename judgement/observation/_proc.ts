/**
 * Reads small files and links of `/proc` at once. The kernel makes them when they are read, without a wait, while each that
 * is read in the thread pool costs a buffer of 64 KiB and several turns. Those that wait for what a process does, such as
 * its arguments, are not read so.
 */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

const buffer = Buffer.allocUnsafe(16 * 1_024);

/** Reads the first 16 KiB of a file. @throws {Error} the process has ended, or is another user's */
export function readProc(path: string): string {
  const file = openSync(path, "r");
  try {
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}

/** Reads the first 16 KiB of a file; empty: it can't be read. */
export function readProcIfAny(path: string): string {
  try {
    return readProc(path);
  } catch {
    return "";
  }
}

/** Lists a folder; empty: it can't be read. */
export function listProc(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Reads a link; empty: it can't be read. */
export function readProcLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

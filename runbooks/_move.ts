import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { BadFolder } from "./plan.ts";

/** A file's two places. */
export interface Move {
  readonly path: string;
  readonly to: string;
  readonly inode: number;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const LINUX = process.platform === "linux";

/**
 * Moves one file aside, whole or not at all; one that is there already is left so.
 *
 * Its folder is held open while that is done, and is the one that the path says: a folder that somebody has meanwhile
 * replaced by a link leads nowhere.
 *
 * @returns whether it is aside now
 */
export async function moveOne({ path, to, inode }: Move): Promise<boolean> {
  const there = existsSync(to);
  return await inFolderOf(path, async (at) => {
    const stats = statsOf(at);
    if (!stats) return there;
    if (!stats.isFile() || stats.ino !== inode) return there;
    if (!there && renamed(at, to)) return true;
    if (!there) await copyWhole(at, to, stats);
    unlinkSync(at);
    return true;
  }) ?? there;
}

/** Moves one file back. `stays`: its place is taken, or gone; `gone`: it is not aside. */
export async function backOne({ path, to }: Move): Promise<"back" | "stays" | "gone"> {
  if (!existsSync(to)) return "gone";
  return await inFolderOf(path, async (at) => {
    const stats = lstatSync(to);
    const linked = linkedTo(at, to);
    if (linked === "taken") return "stays";
    if (linked === "elsewhere") {
      if (statsOf(at)) return "stays";
      await copyWhole(to, at, stats);
    }
    unlinkSync(to);
    return "back";
  }) ?? "stays";
}

/** Renames within one file system. @returns false where it is another one */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    return false;
  }
}

/** A second name where there is none yet; one that an earlier attempt made is as good. */
function linkedTo(at: string, to: string): "linked" | "taken" | "elsewhere" {
  try {
    linkSync(to, at);
    return "linked";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EXDEV") return "elsewhere";
    if (code !== "EEXIST") throw error;
    return statsOf(at)?.ino === lstatSync(to).ino ? "linked" : "taken";
  }
}

/** Does something to a file by way of its open folder; undefined where the folder is not what its path says. */
async function inFolderOf<T>(
  path: string,
  work: (at: string) => Promise<T>,
): Promise<T | undefined> {
  let folder: number;
  try {
    folder = openSync(dirname(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    if (!LINUX) return await work(path);
    const held = `/proc/self/fd/${folder}`;
    if (readlinkSync(held) !== dirname(path)) return undefined;
    return await work(`${held}/${basename(path)}`);
  } finally {
    closeSync(folder);
  }
}

/** Copies a file with its times, rights and owner, so that the copy is there as a whole or not at all. */
async function copyWhole(from: string, to: string, stats: Stats): Promise<void> {
  const source = openSync(from, O_RDONLY | O_NOFOLLOW);
  const part = `${to}.part`;
  try {
    if (fstatSync(source).ino !== stats.ino) throw new Error(`${basename(from)} was replaced`);
    rmSync(part, { force: true });
    await copyFile(LINUX ? `/proc/self/fd/${source}` : from, part, constants.COPYFILE_EXCL);
  } finally {
    closeSync(source);
  }
  if (process.getuid?.() === 0) chownSync(part, stats.uid, stats.gid);
  chmodSync(part, stats.mode);
  utimesSync(part, stats.atime, stats.mtime);
  const copy = openSync(part, "r");
  fsyncSync(copy);
  closeSync(copy);
  renameSync(part, to);
}

/** Makes a folder that nobody else may write to. @throws {BadFolder} somebody has put something else there */
export function ourFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!isOurs(path)) throw new BadFolder("aside_not_ours", path);
}

/** Whether it is a folder of our own that nobody else may write to. */
export function isOurs(path: string): boolean {
  const stats = statsOf(path);
  return stats !== undefined && stats.isDirectory() && (stats.mode & 0o022) === 0 &&
    stats.uid === (process.getuid?.() ?? stats.uid);
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

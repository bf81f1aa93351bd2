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
import { BadFolder } from "./_files.ts";

/** A file, and the place to which it is moved. */
export interface Move {
  readonly path: string;
  readonly to: string;
  readonly inode: number;
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const LINUX = process.platform === "linux";

/**
 * Moves one file aside, whole or not at all. A file that was moved already stays there.
 *
 * Its folder is held open meanwhile, so that a folder which was replaced by a link is not followed.
 *
 * @returns true where it is aside now
 */
export async function moveFile({ path, to, inode }: Move): Promise<boolean> {
  const isAside = existsSync(to);
  return await inFolderOf(path, async (at) => {
    const stats = statsOf(at);
    if (!stats?.isFile() || stats.ino !== inode) return isAside;
    if (!isAside && rename(at, to)) return true;
    if (!isAside) await copyFileWhole(at, to, stats);
    unlinkSync(at);
    return true;
  }) ?? isAside;
}

/** Moves one file back. `stays`: its place is taken, or its folder is gone; `gone`: it is not aside. */
export async function moveBack({ path, to }: Move): Promise<"back" | "stays" | "gone"> {
  if (!existsSync(to)) return "gone";
  return await inFolderOf(path, async (at) => {
    const stats = lstatSync(to);
    const linked = linkFile(to, at);
    if (linked === "taken") return "stays";
    if (linked === "other_file_system") {
      if (statsOf(at)) return "stays";
      await copyFileWhole(to, at, stats);
    }
    unlinkSync(to);
    return "back";
  }) ?? "stays";
}

/** Renames within one file system. @returns false where it is another one */
function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    return false;
  }
}

/** Gives a file a second name, unless another file has it. The name may stem from an earlier attempt. */
function linkFile(from: string, to: string): "linked" | "taken" | "other_file_system" {
  try {
    linkSync(from, to);
    return "linked";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EXDEV") return "other_file_system";
    if (code !== "EEXIST") throw error;
    return statsOf(to)?.ino === lstatSync(from).ino ? "linked" : "taken";
  }
}

/** Works on a file by way of its open folder; undefined where the folder is not at its path. */
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

/** Copies a file with its times, rights and owner. The copy appears as a whole or not at all. */
async function copyFileWhole(from: string, to: string, stats: Stats): Promise<void> {
  const source = openSync(from, O_RDONLY | O_NOFOLLOW);
  const part = `${to}.part`;
  try {
    if (fstatSync(source).ino !== stats.ino) {
      throw new Error(`Cannot copy ${basename(from)}: it was replaced meanwhile`);
    }
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

/** Creates a folder that no other user may write to. @throws {BadFolder} something else is there */
export function makeOwnFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!isOwnFolder(path)) throw new BadFolder("aside_not_ours", path);
}

/** Returns whether it is a folder of this user that no other user may write to. */
export function isOwnFolder(path: string): boolean {
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

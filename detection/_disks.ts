import { readdir, readFile, realpath, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

/** How full a file system is, or a folder that has a bound of its own. */
export interface Usage {
  readonly usedBytes: number;
  /** What may be used in all: for a file system without what is kept for root, as df(1) counts. */
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** 0 to 100. */
  readonly percent: number;
  /** 0 to 100; undefined: this file system doesn't count inodes. */
  readonly inodesPercent?: number;
}

/** A file system of this host. */
export interface Mount {
  readonly path: string;
  readonly type: string;
}

/** File systems on a device of their own. Of others (memory, network, loops of images) only those are looked at that are named. */
const ON_DISK = new Set([
  ...["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "reiserfs", "bcachefs"],
  ...["vfat", "exfat", "ntfs", "ntfs3", "overlay"],
]);

/** Most files of a folder that are counted; one with more is told as it is so far. */
const MOST_FILES = 200_000;

/**
 * Measures a file system by any path on it.
 *
 * Node's own statfs(2) is all that this takes: no library, no program is started.
 *
 * @throws where there is no such path
 */
export async function diskUsage(path: string): Promise<Usage> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
  const used = blocks - bfree;
  const total = used + bavail;
  return {
    usedBytes: used * bsize,
    totalBytes: total * bsize,
    freeBytes: bavail * bsize,
    percent: total === 0 ? 0 : 100 * used / total,
    ...(files === 0 ? {} : { inodesPercent: 100 * (files - ffree) / files }),
  };
}

/** Measures a folder against a bound. @throws where there is no such folder */
export async function folderUsage(path: string, maxBytes: number): Promise<Usage> {
  let usedBytes = 0;
  let files = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder && files < MOST_FILES; folder = folders.pop()) {
    const entries = folder === path
      ? await readdir(folder, { withFileTypes: true })
      : await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const name = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(name);
      if (!entry.isFile()) continue;
      usedBytes += (await stat(name).catch(() => ({ size: 0 }))).size;
      files++;
    }
  }
  return {
    usedBytes,
    totalBytes: maxBytes,
    freeBytes: Math.max(0, maxBytes - usedBytes),
    percent: 100 * usedBytes / maxBytes,
  };
}

/**
 * The file systems on disks of this host, each device once, by its shortest path.
 *
 * @see proc_pid_mountinfo(5); elsewhere than on Linux, the one of `/`
 */
export async function mounts(): Promise<Mount[]> {
  const table = await readFile("/proc/self/mountinfo", "utf8").catch(() => undefined);
  if (table === undefined) return [{ path: "/", type: "unknown" }];
  const byDevice = new Map<string, Mount>();
  for (const line of table.trim().split("\n")) {
    const [left, right] = line.split(" - ") as [string, string];
    const [, , device, , path] = left.split(" ") as [string, string, string, string, string];
    const [type] = right.split(" ") as [string];
    if (!ON_DISK.has(type)) continue;
    const mount = { path: unescape(path), type };
    const other = byDevice.get(device);
    if (!other || mount.path.length < other.path.length) byDevice.set(device, mount);
  }
  return [...byDevice.values()];
}

/** Names of one file system that mean the same. @returns where it is not there: the path as it is */
export async function resolved(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

/** Blanks and backslashes stand in the table as octal numbers. */
function unescape(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}

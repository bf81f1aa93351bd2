import { readdir, readFile, realpath, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

/** Usage of a file system, or of a folder with a bound of its own. */
export interface DiskUsage {
  readonly usedBytes: number;
  /** Size; of a file system, without the part reserved for root, as df(1) counts. */
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** 0 to 100. */
  readonly percent: number;
  /** 0 to 100; absent: this file system doesn't count inodes. */
  readonly inodesPercent?: number;
}

/**
 * Types of file systems on a device of their own. Others (memory, network, images) are only looked at where the settings
 * name them.
 */
const DISK_TYPES = new Set(
  "ext2 ext3 ext4 xfs btrfs zfs f2fs jfs reiserfs bcachefs vfat exfat ntfs ntfs3 overlay".split(
    " ",
  ),
);

/** Maximum of files of a folder that are counted. Of a larger folder, the usage is that of the files counted so far. */
const MAX_FILES = 200_000;

/** Measures the file system of a path. @throws where there is no such path */
export async function measureDisk(path: string): Promise<DiskUsage> {
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

/** Measures a folder against its bound. @throws where there is no such folder */
export async function measureFolder(path: string, maxBytes: number): Promise<DiskUsage> {
  let usedBytes = 0;
  let files = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder && files < MAX_FILES; folder = folders.pop()) {
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
 * Lists the mount points of disks, each device once with its shortest path. On systems other than Linux, it is `/`.
 *
 * @see proc_pid_mountinfo(5)
 */
export async function listMountPoints(): Promise<string[]> {
  const table = await readFile("/proc/self/mountinfo", "utf8").catch(() => undefined);
  if (table === undefined) return ["/"];
  const byDevice = new Map<string, string>();
  for (const line of table.trim().split("\n")) {
    const [left, right] = line.split(" - ") as [string, string];
    const [, , device, , escaped] = left.split(" ") as [string, string, string, string, string];
    const [type] = right.split(" ") as [string];
    if (!DISK_TYPES.has(type)) continue;
    const path = unescapeOctal(escaped);
    const other = byDevice.get(device);
    if (other === undefined || path.length < other.length) byDevice.set(device, path);
  }
  return [...byDevice.values()];
}

/** Resolves links. @returns the path itself where it does not exist */
export async function resolveLinks(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

/** Blanks and backslashes are octal numbers in the table. */
function unescapeOctal(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}

import {
  lstatSync,
  opendirSync,
  readdirSync,
  realpathSync,
  statfsSync,
  type Stats,
  statSync,
} from "node:fs";
import { join, resolve, sep } from "node:path";
import { globFits } from "./match.ts";
import type { ResolvedStep } from "./schema.ts";
import { bytes, seconds } from "./units.ts";

/** A file that is to be moved aside. */
export interface PlannedFile {
  /** Absolute, without links on the way. */
  readonly path: string;
  readonly bytes: number;
  readonly inode: number;
}

/** What a clean step cleans. */
export type Clean = NonNullable<ResolvedStep["clean"]>;

/** What a clean step would move: oldest first. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly bytes: number;
}

/** Most that a plan may hold. */
export interface CleanLimit {
  readonly files: number;
  readonly bytes: number;
}

/** A folder can't be cleaned. */
export class BadFolder extends Error {
  override readonly name = "BadFolder";
  /** @param code `folder_missing`, `folder_is_link`, `folder_protected` */
  constructor(readonly code: string, folder: string) {
    super(`Cannot clean ${folder}: ${code}`);
  }
}

/** Name of the folder that holds what was moved aside within its own file system. */
export const ASIDE = ".sealoop-aside";
/** Folders that are never cleaned themselves, though some within them may be. */
const PROTECTED = new Set([
  ...["/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt"],
  ...["/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/var/lib"],
  ...["/var/spool", "/var/mail"],
]);
/** Nothing below these is ever cleaned: the system itself, and what only looks like files. */
const SACRED = [
  "/bin",
  "/boot",
  "/dev/pts",
  "/etc",
  "/lib",
  "/lib64",
  "/proc",
  "/sbin",
  "/sys",
  "/usr",
];
/** Most entries that are looked at: a plan is made while somebody waits for it. */
const MOST_ENTRIES = 300_000;

/** Bounds of a step as a plan takes them. */
export function wantedBy({ files, bytes: size }: ResolvedStep["bounds"]): CleanLimit {
  return { files: files ?? Infinity, bytes: size === undefined ? Infinity : bytes(size) };
}

/**
 * Says which files a clean step would move: regular files of the named folders alone, of one file system, reached
 * without a link, with one name, that no process holds open. Changes nothing.
 *
 * @throws {BadFolder} one of the folders is not there, is a link, or is the system's
 */
export function planClean(clean: Clean, limit: CleanLimit): Plan {
  const folders = clean.folders.map(checkedFolder);
  const newest = Date.now() - seconds(clean.older_than) * 1_000;
  const open = openFiles();
  const found: Found[] = [];
  for (const folder of folders) {
    const { dev } = lstatSync(folder);
    for (const { path, stats } of filesBelow(folder, dev)) {
      const name = path.slice(path.lastIndexOf(sep) + 1);
      const fits = clean.match.some((glob) => globFits(glob, name)) &&
        !clean.except.some((glob) => globFits(glob, name));
      if (!fits || stats.mtimeMs > newest || stats.nlink > 1) continue;
      if (open.has(keyOf(stats))) continue;
      const { ino: inode, mtimeMs: changed, blocks, size } = stats;
      found.push({ path, bytes: clean.quota ? size : blocks * 512, inode, changed, dev });
    }
  }
  found.sort((a, b) => a.changed - b.changed || (a.path < b.path ? -1 : 1));
  return within(found, limit, missing(clean, folders));
}

interface Found extends PlannedFile {
  readonly changed: number;
  readonly dev: number;
}

/** As many as the bounds allow, and no more than each file system needs. */
function within(
  found: readonly Found[],
  limit: CleanLimit,
  missing: ((dev: number, got: { files: number; bytes: number }) => boolean) | undefined,
): Plan {
  const files: PlannedFile[] = [];
  const perDevice = new Map<number, { files: number; bytes: number }>();
  let sum = 0;
  for (const { path, bytes, inode, dev } of found) {
    const got = perDevice.get(dev) ?? { files: 0, bytes: 0 };
    if (missing && !missing(dev, got)) continue;
    if (files.length >= limit.files || sum + bytes > limit.bytes) break;
    files.push({ path, bytes, inode });
    sum += bytes;
    perDevice.set(dev, { files: got.files + 1, bytes: got.bytes + bytes });
  }
  return { files, bytes: sum };
}

/** Whether a file system needs more than what was got already; undefined: everything that fits is wanted. */
function missing(
  { until_below, kind, quota }: Clean,
  folders: readonly string[],
): ((dev: number, got: { files: number; bytes: number }) => boolean) | undefined {
  if (until_below === undefined) return undefined;
  if (quota) {
    const over = bytesBelow(quota.path) - quota.bytes * until_below / 100;
    return (_, got) => got.bytes <= over;
  }
  const needed = new Map(folders.map((folder) => {
    const { used, size } = measureUsage(folder)[kind];
    return [lstatSync(folder).dev, used - size * until_below / 100];
  }));
  return (dev, got) => {
    const freed = kind === "bytes" ? got.bytes : got.files;
    return freed <= (needed.get(dev) ?? 0);
  };
}

/** How full a file system is; as `df` counts it, without what is kept back for the administrator. */
export interface Usage {
  readonly bytes: { readonly used: number; readonly size: number; readonly percent: number };
  readonly inodes: { readonly used: number; readonly size: number; readonly percent: number };
}

/** How full the file system of a path is. */
export function measureUsage(path: string): Usage {
  const { bsize, blocks, bfree, bavail, files, ffree } = statfsSync(path);
  const part = (used: number, size: number) => ({
    used,
    size,
    percent: size === 0 ? 0 : 100 * used / size,
  });
  return {
    bytes: part((blocks - bfree) * bsize, (blocks - bfree + bavail) * bsize),
    inodes: part(files - ffree, files),
  };
}

/** Sum of the sizes of all files below a folder, as its bound counts them. */
export function bytesBelow(folder: string): number {
  let sum = 0;
  for (const { stats } of filesBelow(folder, lstatSync(folder).dev, true)) sum += stats.size;
  return sum;
}

/** @throws {BadFolder} */
export function checkedFolder(folder: string): string {
  const path = resolve(folder);
  if (PROTECTED.has(path) || SACRED.some((one) => path === one || path.startsWith(`${one}/`))) {
    throw new BadFolder("folder_protected", folder);
  }
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new BadFolder("folder_missing", folder);
  }
  if (real !== path || !lstatSync(path).isDirectory()) {
    throw new BadFolder("folder_is_link", folder);
  }
  return path;
}

/** Regular files below a folder, on its own file system, no link followed. */
function* filesBelow(
  folder: string,
  dev: number,
  all = false,
): Generator<{ path: string; stats: Stats }> {
  const waiting = [folder];
  let seen = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const directory = quietly(() => opendirSync(at!));
    if (!directory) continue;
    try {
      for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
        if (++seen > MOST_ENTRIES) return;
        const path = join(at, entry.name);
        const stats = quietly(() => lstatSync(path));
        if (!stats || stats.dev !== dev) continue;
        if (stats.isDirectory() && (all || entry.name !== ASIDE)) waiting.push(path);
        else if (stats.isFile()) yield { path, stats };
      }
    } finally {
      directory.closeSync();
    }
  }
}

/** Files that any process holds open, where the system shows them. */
function openFiles(): Set<string> {
  const open = new Set<string>();
  for (const pid of quietly(() => readdirSync("/proc")) ?? []) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of quietly(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const stats = quietly(() => statSync(`/proc/${pid}/fd/${fd}`));
      if (stats?.isFile()) open.add(keyOf(stats));
    }
  }
  return open;
}

const keyOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

/** What is there, or undefined where it has just gone or is not for us to see. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

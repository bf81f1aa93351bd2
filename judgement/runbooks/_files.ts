/** Files and file systems of this host, as far as cleaning needs to know them. */
import {
  lstatSync,
  opendirSync,
  readdirSync,
  realpathSync,
  statfsSync,
  type Stats,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";

/** A folder can't be cleaned. */
export class BadFolder extends Error {
  override readonly name = "BadFolder";
  /** @param code `folder_missing`, `folder_is_link`, `folder_protected` or `aside_not_ours` */
  constructor(readonly code: string, folder: string) {
    super(`Cannot clean ${folder}: ${code}`);
  }
}

/** Usage of a file system. */
export interface FileSystemUsage {
  readonly bytes: UsageFigures;
  readonly inodes: UsageFigures;
}

interface UsageFigures {
  readonly used: number;
  readonly size: number;
  /** 0 to 100. */
  readonly percent: number;
}

/** A file, with its path. */
export interface FoundFile {
  readonly path: string;
  readonly stats: Stats;
}

/** Name of the folder that holds files which were moved aside within their own file system. */
export const ASIDE = ".sealoop-aside";
/** Folders that are never cleaned themselves, though some within them may be. */
const PROTECTED = new Set(
  `/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr
   /var /var/lib /var/spool /var/mail`.split(/\s+/),
);
/** Folders below which nothing is ever cleaned: those of the system, and those that have no real files. */
const UNTOUCHABLE = [
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
/** Maximum of entries that are looked at, as somebody waits for the plan. */
const MAX_ENTRIES = 300_000;

/** Measures the file system of a path, as `df` does: without what is kept for the administrator. */
export function measureUsage(path: string): FileSystemUsage {
  const { bsize, blocks, bfree, bavail, files, ffree } = statfsSync(path);
  return {
    bytes: figures((blocks - bfree) * bsize, (blocks - bfree + bavail) * bsize),
    inodes: figures(files - ffree, files),
  };
}

function figures(used: number, size: number): UsageFigures {
  return { used, size, percent: size === 0 ? 0 : 100 * used / size };
}

/** Adds up the sizes of all files below a folder, as its bound counts them. */
export function sumFileSizes(folder: string): number {
  let sum = 0;
  const options = { device: lstatSync(folder).dev, includeAside: true };
  for (const { stats } of walkFiles(folder, options)) sum += stats.size;
  return sum;
}

/**
 * Returns the absolute path of a folder that may be cleaned.
 *
 * @throws {BadFolder} it is missing, a link, or one of the system
 */
export function checkFolder(folder: string): string {
  const path = resolve(folder);
  if (
    PROTECTED.has(path) || UNTOUCHABLE.some((one) => path === one || path.startsWith(`${one}/`))
  ) throw new BadFolder("folder_protected", folder);
  const real = quietly(() => realpathSync(path));
  if (real === undefined) throw new BadFolder("folder_missing", folder);
  if (real !== path || !lstatSync(path).isDirectory()) {
    throw new BadFolder("folder_is_link", folder);
  }
  return path;
}

/** Yields the regular files below a folder that are on a device. Follows no link. */
export function* walkFiles(
  folder: string,
  { device, includeAside = false }: { readonly device: number; readonly includeAside?: boolean },
): Generator<FoundFile> {
  const waiting = [folder];
  let count = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const directory = quietly(() => opendirSync(at!));
    if (!directory) continue;
    try {
      for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
        if (++count > MAX_ENTRIES) return;
        const path = join(at, entry.name);
        const stats = quietly(() => lstatSync(path));
        if (!stats || stats.dev !== device) continue;
        if (stats.isDirectory() && (includeAside || entry.name !== ASIDE)) waiting.push(path);
        else if (stats.isFile()) yield { path, stats };
      }
    } finally {
      directory.closeSync();
    }
  }
}

/** Lists the {@linkcode fileKey} of all files that any process holds open, where the system shows them. */
export function listOpenFiles(): Set<string> {
  const open = new Set<string>();
  for (const pid of quietly(() => readdirSync("/proc")) ?? []) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of quietly(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      const stats = quietly(() => statSync(`/proc/${pid}/fd/${fd}`));
      if (stats?.isFile()) open.add(fileKey(stats));
    }
  }
  return open;
}

/** Identifies a file on this host, whatever its name. */
export function fileKey({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** Returns undefined where it fails: what was looked at is gone, or not visible. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

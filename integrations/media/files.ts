import { createHash, randomBytes } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { openBlobs } from "../blobs/mod.ts";
import { pathBelow } from "../files/mod.ts";

/** A kept file. */
export interface MediaFile {
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Files by their content: each lies once in the data folder, under its hash. Where the settings name a bucket, each is kept
 * there, too, and fetched from there by processes that lack it.
 */
export interface MediaFiles {
  /** Returns where a file lies; undefined: it is not kept. @throws {Problem} `Unavailable`: the bucket is away */
  find(sha256: string): Promise<string | undefined>;
  /** Keeps a copy of a file. Returns when it is on the disk, and in the bucket. @throws {Problem} `Unavailable` */
  keep(path: string): Promise<MediaFile>;
  /** Keeps a text or bytes. */
  keepBytes(bytes: string | Uint8Array): Promise<MediaFile>;
  /** Runs work with an empty folder of its own, which is removed afterwards. */
  inFolder<T>(work: (folder: string) => Promise<T>): Promise<T>;
  /**
   * Removes files that nobody needs any more, and what killed programs left behind, once they are a day old.
   *
   * @param listNeeded returns the hashes of the files that stay
   * @returns how many files and folders
   */
  sweep(listNeeded: () => Promise<ReadonlySet<string>>): Promise<number>;
  /** Removes files from this machine that are a day old, where a bucket has them. @returns how many */
  dropCopies(): Promise<number>;
  /** Folder of the key that signs manifests. */
  readonly keys: string;
}

const DAY_MS = 86_400_000;
const SHA256 = /^[0-9a-f]{64}$/;
const BLOB_PREFIX = "media/";
const blobKey = (sha256: string) => BLOB_PREFIX + sha256;

/** Opens the files of a data folder, and of the bucket that the settings name. */
export function openMediaFiles(config: Pick<Config, "dataDir" | "settings">): MediaFiles {
  const root = join(config.dataDir, "media");
  const blobs = openBlobs(config);
  const pathOf = (sha256: string) => pathBelow(join(root, "files"), sha256.slice(0, 2), sha256);

  async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    await mkdir(join(root, "work"), { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(root, "work", "job-"));
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async function keep(path: string): Promise<MediaFile> {
    const { sha256, bytes } = await hashFile(path);
    const place = pathOf(sha256);
    // A file that was there is as good as new, so that it is not swept before a row names it.
    const isThere = await utimes(place, new Date(), new Date()).then(() => true, () => false);
    if (!isThere) {
      await putInPlace(place, (fresh) => copyFile(path, fresh));
    }
    await blobs?.put(blobKey(sha256), await readFile(place));
    return { sha256, bytes };
  }

  /** Fetches a file from the bucket, which is not believed. @returns false: it has none, or another one */
  async function fetchFile(sha256: string, place: string): Promise<boolean> {
    const bytes = await blobs?.get(blobKey(sha256));
    if (!bytes || createHash("sha256").update(bytes).digest("hex") !== sha256) return false;
    await putInPlace(place, (fresh) => writeFile(fresh, bytes));
    return true;
  }

  /** Removes files of the bucket as {@linkcode MediaFiles.sweep} does. */
  async function sweepBlobs(listNeeded: () => Promise<ReadonlySet<string>>): Promise<number> {
    if (!blobs) return 0;
    const old: string[] = [];
    for await (const { key, modifiedAt } of blobs.list(BLOB_PREFIX)) {
      if (isPast(modifiedAt.getTime())) old.push(key);
    }
    const needed = old.length > 0 ? await listNeeded() : new Set();
    let removed = 0;
    for (const key of old.filter((key) => !needed.has(basename(key)))) {
      const at = await blobs.modifiedAt(key);
      if (!at || !isPast(at.getTime())) continue; // it was kept anew meanwhile
      await blobs.remove(key);
      removed++;
    }
    return removed;
  }

  /** Lists the paths of all kept files. */
  async function listFiles(): Promise<string[]> {
    const folders = await listPaths(join(root, "files"));
    return (await Promise.all(folders.map(listPaths))).flat();
  }

  return {
    keys: join(root, "keys"),
    async find(sha256) {
      if (!SHA256.test(sha256)) return undefined;
      const path = pathOf(sha256);
      return existsSync(path) || await fetchFile(sha256, path) ? path : undefined;
    },
    keep,
    keepBytes: (bytes) =>
      inFolder(async (folder) => {
        const path = join(folder, "bytes");
        await writeFile(path, bytes);
        return await keep(path);
      }),
    inFolder,
    async dropCopies() {
      if (!blobs) return 0;
      const copies: string[] = [];
      for (const path of await listFiles()) {
        if (await isOld(path) && await blobs.modifiedAt(blobKey(basename(path)))) copies.push(path);
      }
      return await removeOld(copies);
    },
    async sweep(listNeeded) {
      const files = await listFiles();
      const old: string[] = [];
      for (const path of files) if (await isOld(path)) old.push(path);
      const needed = old.length > 0 ? await listNeeded() : new Set();
      const removable = old.filter((path) => !needed.has(basename(path)));
      removable.push(...await listPaths(join(root, "work")));
      return await removeOld(removable) + await sweepBlobs(listNeeded);
    },
  };
}

/** Returns the SHA-256 of a file and its size. */
export async function hashFile(path: string): Promise<MediaFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest("hex"), bytes };
}

/** Returns the paths in a folder; none where there is no such folder. */
async function listPaths(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.map((name) => join(folder, name));
}

/** Removes files and folders, but for those that are no day old: they were kept anew meanwhile. @returns how many */
async function removeOld(paths: readonly string[]): Promise<number> {
  let removed = 0;
  for (const path of paths) {
    if (!await isOld(path)) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity })); // it is gone
  return isPast(mtimeMs);
}

const isPast = (ms: number) => Date.now() - ms > DAY_MS;

/** Makes a file that appears with all of its content, and survives a crash of the machine. */
async function putInPlace(
  place: string,
  write: (fresh: string) => Promise<unknown>,
): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const fresh = `${place}.${randomBytes(6).toString("hex")}`;
  await write(fresh);
  await syncFile(fresh);
  await rename(fresh, place);
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

import { createHash, randomBytes } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { pathBelow } from "../files/mod.ts";

/** A kept file. */
export interface MediaFile {
  readonly sha256: string;
  readonly bytes: number;
}

/** Files of the data folder by their content: each lies once, under its hash. */
export interface MediaFiles {
  /** Returns where a file lies; undefined: it is not kept. */
  find(sha256: string): string | undefined;
  /** Keeps a copy of a file. Returns when it is on the disk. */
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
  /** Folder of the key that signs manifests. */
  readonly keys: string;
}

const DAY_MS = 86_400_000;
const SHA256 = /^[0-9a-f]{64}$/;

/** Opens the files of a data folder. */
export function openMediaFiles({ dataDir }: Pick<Config, "dataDir">): MediaFiles {
  const root = join(dataDir, "media");
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
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      const fresh = `${place}.${randomBytes(6).toString("hex")}`;
      await copyFile(path, fresh);
      await syncFile(fresh);
      await rename(fresh, place);
    }
    return { sha256, bytes };
  }

  return {
    keys: join(root, "keys"),
    find(sha256) {
      const path = SHA256.test(sha256) ? pathOf(sha256) : undefined;
      return path !== undefined && existsSync(path) ? path : undefined;
    },
    keep,
    keepBytes: (bytes) =>
      inFolder(async (folder) => {
        const path = join(folder, "bytes");
        await writeFile(path, bytes);
        return await keep(path);
      }),
    inFolder,
    async sweep(listNeeded) {
      const folders = await listPaths(join(root, "files"));
      const files = (await Promise.all(folders.map(listPaths))).flat();
      const old: string[] = [];
      for (const path of files) if (await isOld(path)) old.push(path);
      const needed = old.length > 0 ? await listNeeded() : new Set();
      const removable = old.filter((path) => !needed.has(basename(path)));
      removable.push(...await listPaths(join(root, "work")));
      let removed = 0;
      for (const path of removable) {
        if (!await isOld(path)) continue; // it was kept anew meanwhile
        await rm(path, { recursive: true, force: true });
        removed++;
      }
      return removed;
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

async function isOld(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity })); // it is gone
  return Date.now() - mtimeMs > DAY_MS;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

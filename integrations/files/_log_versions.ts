/** Finds files to which a log was renamed or copied when it was rotated. */
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative } from "node:path";

/** A file that may have had the log's name. */
export interface LogVersion {
  readonly path: string;
  readonly inode: number;
  readonly modifiedMs: number;
  /** The log's name, without its extension, is in its name. */
  readonly hasName: boolean;
}

/** Folders below that of the log in which it is looked for, and below these. */
const MAX_DEPTH = 3;
/** Maximum of files and folders of a search. */
const MAX_ENTRIES = 5_000;
const COMPRESSED = /\.(gz|xz|zst|bz2|lz4|zip|br)$/;
/** Folders beside that of the log in which rotated logs lie. */
const ARCHIVE = /arch|old|rotat|backup|hist|save|\d{4}/i;

/**
 * Lists files to which a log may have been renamed, without compressed ones: first those in its folder, then those below
 * it, then those in archives beside it.
 *
 * @param inode of the file that has the log's name now
 */
export async function* listVersions(path: string, inode: number): AsyncGenerator<LogVersion[]> {
  const folders = new Set([dirname(path), dirname(await realpath(path).catch(() => path))]);
  const name = basename(path, extname(path));
  let left = MAX_ENTRIES;
  const read = async (folder: string) => {
    const entries = (await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []))
      .slice(0, left);
    left -= entries.length;
    const files = entries.filter((one) => one.isFile() && !COMPRESSED.test(one.name));
    const versions = await Promise.all(files.map(async (one): Promise<LogVersion[]> => {
      const file = join(folder, one.name);
      const stats = await stat(file).catch(() => undefined);
      if (!stats || stats.ino === inode) return [];
      const hasName = relative(dirname(path), file).includes(name);
      return [{ path: file, inode: stats.ino, modifiedMs: stats.mtimeMs, hasName }];
    }));
    const below = entries.filter((one) => one.isDirectory()).map((one) => join(folder, one.name));
    return { versions: versions.flat(), below };
  };
  let level: string[] = [];
  const known: LogVersion[] = [];
  for (const folder of folders) {
    const { versions, below } = await read(folder);
    known.push(...versions);
    level.push(...below);
  }
  yield known;
  const beside = [...folders].map(dirname);
  for (let depth = 0; depth < MAX_DEPTH && left > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      const { versions, below } = await read(folder);
      known.push(...versions);
      next.push(...below);
    }
    yield known;
    level = next;
  }
  for (const folder of beside) {
    const { below } = await read(folder);
    for (const one of below.filter((one) => ARCHIVE.test(basename(one)) && !folders.has(one))) {
      known.push(...(await read(one)).versions);
    }
  }
  yield known;
}

/**
 * Lists the files that had the log's name after another one, oldest first: their names differ from its name in digits
 * only, and these are not in the log's own name.
 */
export function listSuccessors(
  path: string,
  before: LogVersion,
  versions: readonly LogVersion[],
): LogVersion[] {
  const folder = dirname(path);
  const shape = shapeOf(basename(path), relative(folder, before.path));
  return versions.filter(({ path: one, modifiedMs }) =>
    modifiedMs > before.modifiedMs && shape.test(relative(folder, one))
  ).sort((a, b) => a.modifiedMs - b.modifiedMs);
}

/** Returns the form of the names of rotated logs: `app-1.log` of `app.log` becomes `app-<digits>.log`. */
function shapeOf(name: string, rotated: string): RegExp {
  const at = rotated.lastIndexOf("/") + 1;
  const file = rotated.slice(at);
  const isSame = (i: number, j: number) => name[i] === file[j];
  let start = 0;
  while (start < Math.min(name.length, file.length) && isSame(start, start)) start++;
  let end = 0;
  while (
    end < Math.min(name.length, file.length) - start &&
    isSame(name.length - 1 - end, file.length - 1 - end)
  ) end++;
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const varies = (text: string) => literal(text).replace(/\d+/g, "\\d+");
  const middle = file.slice(start, file.length - end);
  return new RegExp(
    `^${varies(rotated.slice(0, at))}${literal(file.slice(0, start))}${varies(middle)}${
      literal(file.slice(file.length - end))
    }$`,
  );
}

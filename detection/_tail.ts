import { createHash } from "node:crypto";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** How far a file was read, and which file it was: its name may be another one's by now. */
export interface Place {
  readonly inode: number;
  /** Bytes, up to the end of a line. */
  readonly position: number;
  /** How it begins, as a file that is emptied and filled again is another one with the same inode. */
  readonly head: { readonly bytes: number; readonly sha256: string };
}

/** What was added to a log. */
export interface Added {
  readonly lines: readonly string[];
  readonly place: Place;
  /** Whether it was looked at for the first time: then the lines are its last ones, which are old. */
  readonly first: boolean;
  /** Lines of a file that is gone were missed. */
  readonly missed: boolean;
}

/** Of the old lines of a log that is seen for the first time, this much at the most. */
const FIRST_BYTES = 1 << 20;
/** Read at once; what is beyond waits for the next time. */
export const MOST_BYTES = 8 << 20;
/** A line that is longer is cut. */
const LONGEST_LINE = 64 << 10;
const HEAD_BYTES = 256;

/**
 * Reads what was added to a log since it was read last.
 *
 * A file that was renamed is read to its end under its new name before its successor; one that was copied and emptied
 * (copytruncate) is read to its end in its copy. A last line that is not ended yet waits for the next time.
 *
 * @param place where the last reading ended; undefined: it was never read
 * @throws where the file can't be read
 */
export async function readAdded(
  path: string,
  place: Place | undefined,
  mostBytes = MOST_BYTES,
): Promise<Added> {
  const file = await open(path, "r");
  try {
    const { ino, size } = await file.stat();
    if (!place) {
      const from = Math.max(0, size - Math.min(FIRST_BYTES, mostBytes));
      const { lines, position } = await readLines(file, from, mostBytes);
      const whole = from === 0 ? lines : lines.slice(1); // the first one is cut
      return { lines: whole, place: await placeOf(file, position), first: true, missed: false };
    }
    if (ino === place.inode && size >= place.position && await beginsAs(file, place)) {
      const { lines, position } = await readLines(file, place.position, mostBytes);
      return { lines, place: await placeOf(file, position), first: false, missed: false };
    }
    return await readOver(path, file, place, mostBytes);
  } finally {
    await file.close();
  }
}

/** A file that has, or had, the log's name. */
interface Version {
  readonly path: string;
  readonly inode: number;
  readonly modifiedMs: number;
}

/** The rest of the file that was read before, then those that had its name since, and then the one that has it now. */
async function readOver(
  path: string,
  now: FileHandle,
  place: Place,
  mostBytes: number,
): Promise<Added> {
  const versions = await versionsBeside(path, now);
  const before = await findBefore(versions, place);
  const since = before ? versions.filter((one) => one.modifiedMs > before.modifiedMs) : [];
  const lines: string[] = [];
  let left = mostBytes;
  for (const version of before ? [before, ...since] : []) {
    const file = await open(version.path, "r").catch(() => undefined);
    if (!file) continue; // compressed or removed this very moment; the next look says what is missed
    try {
      const from = version === before ? place.position : 0;
      const { size } = await file.stat();
      const read = await readLines(file, from, left);
      lines.push(...read.lines);
      left -= read.position - from;
      if (read.more || left <= 0) { // there is more than fits: what comes after it waits
        return { lines, place: await placeOf(file, read.position), first: false, missed: false };
      }
      if (read.position < size) lines.push(await lastLine(file, read.position, size));
    } finally {
      await file.close();
    }
  }
  const next = await readLines(now, 0, left);
  return {
    lines: [...lines, ...next.lines],
    place: await placeOf(now, next.position),
    first: false,
    missed: before === undefined,
  };
}

/** Files beside the log whose names begin with its own, oldest first; not those that were compressed. */
async function versionsBeside(path: string, now: FileHandle): Promise<Version[]> {
  const { ino } = await now.stat();
  const names = (await readdir(dirname(path))).filter((name) =>
    name.startsWith(basename(path)) && name !== basename(path) && !/\.(gz|xz|zst|bz2)$/.test(name)
  );
  const all = await Promise.all(names.map(async (name): Promise<Version[]> => {
    const version = join(dirname(path), name);
    const seen = await stat(version).catch(() => undefined);
    if (!seen?.isFile() || seen.ino === ino) return [];
    return [{ path: version, inode: seen.ino, modifiedMs: seen.mtimeMs }];
  }));
  return all.flat().sort((a, b) => a.modifiedMs - b.modifiedMs);
}

/** The file that was read before: a renamed one has the inode, a copy begins in the same way. */
async function findBefore(
  versions: readonly Version[],
  place: Place,
): Promise<Version | undefined> {
  const renamedFirst = [...versions].sort((a, b) =>
    Number(b.inode === place.inode) - Number(a.inode === place.inode)
  );
  for (const version of renamedFirst) {
    const file = await open(version.path, "r").catch(() => undefined);
    if (!file) continue;
    try {
      const { size } = await file.stat();
      // An inode may have been given to another file since, so the beginning counts in any case; of nothing there is none.
      const isSame = version.inode === place.inode || place.position > 0;
      if (isSame && size >= place.position && await beginsAs(file, place)) return version;
    } finally {
      await file.close();
    }
  }
  return undefined;
}

async function readLines(
  file: FileHandle,
  from: number,
  mostBytes: number,
): Promise<{ lines: string[]; position: number; more: boolean }> {
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.max(0, Math.min(size - from, mostBytes)));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
  const seen = bytes.subarray(0, bytesRead);
  const end = seen.lastIndexOf(10) + 1;
  const taken = end === 0 && bytesRead >= LONGEST_LINE ? bytesRead : end; // else it would wait for ever
  const text = seen.subarray(0, taken).toString("utf8");
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  return {
    lines: lines.map((line) => line.slice(0, LONGEST_LINE)),
    position: from + taken,
    more: from + bytesRead < size,
  };
}

/** The line that a file ended with when it was put away, without a line end. */
async function lastLine(file: FileHandle, from: number, to: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(to - from, LONGEST_LINE));
  await file.read(bytes, 0, bytes.length, from);
  return bytes.toString("utf8");
}

async function placeOf(file: FileHandle, position: number): Promise<Place> {
  const { ino } = await file.stat();
  return { inode: ino, position, head: await headOf(file, Math.min(position, HEAD_BYTES)) };
}

async function beginsAs(file: FileHandle, { head }: Place): Promise<boolean> {
  return (await headOf(file, head.bytes)).sha256 === head.sha256;
}

async function headOf(file: FileHandle, length: number): Promise<Place["head"]> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, 0);
  const sha256 = createHash("sha256").update(bytes.subarray(0, bytesRead)).digest("hex");
  return { bytes: bytesRead, sha256 };
}

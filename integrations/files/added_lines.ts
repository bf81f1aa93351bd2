import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { listSuccessors, listVersions, type LogVersion } from "./_log_versions.ts";

/** Place in a log up to which it was read. It identifies the file, as another one may have its name by now. */
export interface FilePlace {
  readonly inode: number;
  /** Bytes, up to the end of a line. */
  readonly position: number;
  /** Its first bytes: a file that is emptied and filled again has the same inode. */
  readonly head: { readonly bytes: number; readonly sha256: string };
}

/** Lines that were added to a log. */
export interface AddedLines {
  readonly lines: readonly string[];
  readonly place: FilePlace;
  /** True: this is the first reading, whose lines are old. */
  readonly first: boolean;
  /** True: lines of a file that is gone were missed. */
  readonly missed: boolean;
}

/** Maximum of bytes of old lines at the first reading. */
const MAX_FIRST_BYTES = 1024 * 1024;
/** Maximum of bytes of a reading. The rest waits for the next one. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Maximum of lines of a reading, likewise: short ones cost more than their bytes. */
const MAX_LINES = 50_000;
/** Longer lines are cut. */
const MAX_LINE_BYTES = 64 * 1024;
const HEAD_BYTES = 256;
const LINE_FEED = 0x0a;

/**
 * Reads the lines that were added to a log since the last reading.
 *
 * A file that was renamed is read to its end before its successor, whatever its new name: it is known by its inode and its
 * first bytes. One that was copied and emptied (copytruncate) is read to its end in its copy. A last line without a line end waits for the next reading.
 *
 * @param place where the last reading ended; undefined: there was none
 * @throws where the file can't be read
 */
export async function readAddedLines(
  path: string,
  place: FilePlace | undefined,
  maxBytes = MAX_BYTES,
): Promise<AddedLines> {
  const file = await open(path, "r");
  try {
    const { ino, size } = await file.stat();
    if (!place) return await readFirst(file, maxBytes);
    if (ino === place.inode && size >= place.position && await hasHead(file, place)) {
      const { lines, position } = await readLines(file, place.position, maxBytes);
      return { lines, place: await placeAt(file, position), first: false, missed: false };
    }
    return await readRotated(path, file, place, maxBytes);
  } finally {
    await file.close();
  }
}

async function readFirst(file: FileHandle, maxBytes: number): Promise<AddedLines> {
  const { size } = await file.stat();
  const from = Math.max(0, size - Math.min(MAX_FIRST_BYTES, maxBytes));
  const { lines, position } = await readLines(file, from, maxBytes, Infinity);
  const whole = from === 0 ? lines : lines.slice(1); // the first one is cut
  return { lines: whole, place: await placeAt(file, position), first: true, missed: false };
}

/** Reads the rest of the file that was read before, then its successors, and then the one that has the name now. */
async function readRotated(
  path: string,
  current: FileHandle,
  place: FilePlace,
  maxBytes: number,
): Promise<AddedLines> {
  const { ino } = await current.stat();
  let before: LogVersion | undefined;
  let successors: LogVersion[] = [];
  for await (const versions of listVersions(path, ino)) {
    before = await findVersion(versions, place);
    if (!before) continue;
    successors = listSuccessors(path, before, versions);
    break;
  }
  const lines: string[] = [];
  let left = maxBytes;
  for (const version of before ? [before, ...successors] : []) {
    const file = await open(version.path, "r").catch(() => undefined);
    if (!file) continue; // it was compressed or removed this moment; the next reading reports missed lines
    try {
      const from = version === before ? place.position : 0;
      const { size } = await file.stat();
      const read = await readLines(file, from, left);
      lines.push(...read.lines);
      left -= read.position - from;
      if (read.more || left <= 0) {
        return { lines, place: await placeAt(file, read.position), first: false, missed: false };
      }
      if (read.position < size) lines.push(await readLastLine(file, read.position, size));
    } finally {
      await file.close();
    }
  }
  const next = await readLines(current, 0, left);
  return {
    lines: [...lines, ...next.lines],
    place: await placeAt(current, next.position),
    first: false,
    missed: before === undefined,
  };
}

/** Finds the file that was read before: a renamed one has its inode, a copy has its head. */
async function findVersion(
  versions: readonly LogVersion[],
  place: FilePlace,
): Promise<LogVersion | undefined> {
  const renamedFirst = [...versions].sort((a, b) =>
    Number(b.inode === place.inode) - Number(a.inode === place.inode)
  );
  for (const version of renamedFirst) {
    const file = await open(version.path, "r").catch(() => undefined);
    if (!file) continue;
    try {
      const { size } = await file.stat();
      // An inode may belong to another file since, so the head counts in any case. An empty file has no head. A copy has the
      // name of the log in its own.
      const mayBe = version.inode === place.inode || version.hasName && place.position > 0;
      if (mayBe && size >= place.position && await hasHead(file, place)) return version;
    } finally {
      await file.close();
    }
  }
  return undefined;
}

async function readLines(
  file: FileHandle,
  from: number,
  maxBytes: number,
  maxLines = MAX_LINES,
): Promise<{ lines: string[]; position: number; more: boolean }> {
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.max(0, Math.min(size - from, maxBytes)));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
  const read = bytes.subarray(0, bytesRead);
  const end = endOfLines(read, maxLines);
  const taken = end === 0 && bytesRead >= MAX_LINE_BYTES ? bytesRead : end; // else it would wait forever
  const text = decode(read.subarray(0, taken));
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  return {
    lines: lines.map((line) => line.slice(0, MAX_LINE_BYTES).toWellFormed()),
    position: from + taken,
    more: from + bytesRead < size || read.includes(LINE_FEED, taken),
  };
}

/** Returns where the last line ends that a reading takes; 0: there is no whole one. */
function endOfLines(bytes: Buffer, maxLines: number): number {
  let end = 0;
  for (let n = 0; n < maxLines; n++) {
    const next = bytes.indexOf(LINE_FEED, end);
    if (next === -1) break;
    end = next + 1;
  }
  return end;
}

/** Reads a last line without a line end, which is complete once the file is rotated. */
async function readLastLine(file: FileHandle, from: number, to: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(to - from, MAX_LINE_BYTES));
  await file.read(bytes, 0, bytes.length, from);
  return decode(bytes);
}

/** Decodes lines so that PostgreSQL can keep them: it has no texts with NUL. */
function decode(bytes: Buffer): string {
  return bytes.toString("utf8").replaceAll("\0", "\ufffd");
}

async function placeAt(file: FileHandle, position: number): Promise<FilePlace> {
  const { ino } = await file.stat();
  return { inode: ino, position, head: await readHead(file, Math.min(position, HEAD_BYTES)) };
}

async function hasHead(file: FileHandle, { head }: FilePlace): Promise<boolean> {
  return (await readHead(file, head.bytes)).sha256 === head.sha256;
}

async function readHead(file: FileHandle, length: number): Promise<FilePlace["head"]> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, 0);
  const sha256 = createHash("sha256").update(bytes.subarray(0, bytesRead)).digest("hex");
  return { bytes: bytesRead, sha256 };
}

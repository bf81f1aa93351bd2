import { lstatSync } from "node:fs";
import { basename, extname } from "node:path";
import { matchesGlob } from "../../integrations/files/mod.ts";
import {
  checkFolder,
  fileKey,
  type FoundFile,
  listOpenFiles,
  measureUsage,
  sumFileSizes,
  walkFiles,
} from "./_files.ts";
import { createProof } from "./_proofs.ts";
import { bytes, milliseconds } from "./_units.ts";
import type { ResolvedStep } from "./schema.ts";

/** A clean step. */
export type Clean = NonNullable<ResolvedStep["clean"]>;

/** A file that is to be moved aside. */
export interface PlannedFile {
  /** Absolute, without links on the way. */
  readonly path: string;
  readonly bytes: number;
  readonly inode: number;
}

/** The files that a clean step would move, oldest first. */
export interface CleanPlan {
  readonly files: readonly PlannedFile[];
  /** Sum of the files' bytes. */
  readonly bytes: number;
}

/** Limit of a plan. */
export interface CleanLimit {
  readonly files: number;
  readonly bytes: number;
}

interface Candidate extends PlannedFile {
  readonly changedMs: number;
  readonly device: number;
}

interface Amount {
  readonly files: number;
  readonly bytes: number;
}

/** Returns whether a file system needs more than this amount to be moved. */
type NeedTest = (device: number, moved: Amount) => boolean;

/** Most kinds of files that are named. */
const MAX_KINDS = 3;

/** Returns the limit that a step's bounds set. */
export function limitOf({ files, bytes: size }: ResolvedStep["bounds"]): CleanLimit {
  return { files: files ?? Infinity, bytes: size === undefined ? Infinity : bytes(size) };
}

/**
 * Plans which files a clean step would move: regular files of the named folders, of one file system, reached without a link,
 * with one name, that no process holds open. Changes nothing.
 *
 * @throws {BadFolder} one of the folders is missing, a link, or one of the system
 */
export function planClean(clean: Clean, limit: CleanLimit): CleanPlan {
  const folders = clean.folders.map(checkFolder);
  const newest = Date.now() - milliseconds(clean.older_than);
  const open = listOpenFiles();
  const candidates: Candidate[] = [];
  const isProved = clean.proof ? createProof(clean.proof, folders) : () => true;
  for (const folder of folders) {
    for (const file of walkFiles(folder, { device: lstatSync(folder).dev })) {
      const { mtimeMs, nlink } = file.stats;
      if (mtimeMs > newest || nlink > 1 || !isWanted(file, clean) || !isProved(file)) continue;
      if (!open.has(fileKey(file.stats))) candidates.push(toCandidate(file, clean));
    }
  }
  candidates.sort((a, b) => a.changedMs - b.changedMs || (a.path < b.path ? -1 : 1));
  return select(candidates, limit, needTest(clean, folders));
}

/** Says why a clean step would move nothing: what it moves, and which files are there, the most frequent kinds first. */
export function describeOthers({ folders, match, older_than, proof }: Clean): string {
  const counts = new Map<string, number>();
  for (const folder of folders.map(checkFolder)) {
    for (const { path } of walkFiles(folder, { device: lstatSync(folder).dev })) {
      const kind = `*${extname(path)}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  const kinds = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_KINDS)
    .map(([kind, count]) => `${count} ${kind}`);
  const proven = proof ? `, each proven to be of the kind ${proof.replaceAll("_", " ")}` : "";
  return `It moves only ${match.join(", ")} older than ${older_than}${proven}; there are ${
    kinds.join(", ") || "no files"
  }`;
}

function isWanted({ path }: FoundFile, { match, except }: Clean): boolean {
  const name = basename(path);
  return match.some((glob) => matchesGlob(glob, name)) &&
    !except.some((glob) => matchesGlob(glob, name));
}

function toCandidate({ path, stats }: FoundFile, { quota }: Clean): Candidate {
  return {
    path,
    bytes: quota ? stats.size : stats.blocks * 512,
    inode: stats.ino,
    changedMs: stats.mtimeMs,
    device: stats.dev,
  };
}

/** Selects as many files as the limit allows, and no more than each file system needs. */
function select(
  candidates: readonly Candidate[],
  limit: CleanLimit,
  needsMore: NeedTest | undefined,
): CleanPlan {
  const files: PlannedFile[] = [];
  const movedOf = new Map<number, Amount>();
  let sum = 0;
  for (const { path, bytes, inode, device } of candidates) {
    const moved = movedOf.get(device) ?? { files: 0, bytes: 0 };
    if (needsMore && !needsMore(device, moved)) continue;
    if (files.length >= limit.files || sum + bytes > limit.bytes) break;
    files.push({ path, bytes, inode });
    sum += bytes;
    movedOf.set(device, { files: moved.files + 1, bytes: moved.bytes + bytes });
  }
  return { files, bytes: sum };
}

/** Returns undefined where every matching file is to be moved. */
function needTest(
  { until_below, kind, quota }: Clean,
  folders: readonly string[],
): NeedTest | undefined {
  if (until_below === undefined) return undefined;
  if (quota) {
    const excess = sumFileSizes(quota.path) - quota.bytes * until_below / 100;
    return (_, moved) => moved.bytes <= excess;
  }
  const excess = new Map(folders.map((folder) => {
    const { used, size } = measureUsage(folder)[kind];
    return [lstatSync(folder).dev, used - size * until_below / 100];
  }));
  return (device, moved) => {
    const freed = kind === "bytes" ? moved.bytes : moved.files;
    return freed <= (excess.get(device) ?? 0);
  };
}

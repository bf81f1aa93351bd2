import { existsSync, readdirSync, rmdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { leaveMark, markOf, marksOf } from "./_marks.ts";
import { backOne, isOurs, moveOne, ourFolder } from "./_move.ts";
import {
  ASIDE,
  BadFolder,
  checkedFolder,
  type Clean,
  type CleanLimit,
  planClean,
  type PlannedFile,
} from "./plan.ts";
import type { StepOutcome } from "./step.ts";

/** Which clean act it is. */
export interface AsideOrder {
  readonly dataDir: string;
  readonly effectId: string;
}

/** Where each file was and is; written down before the first one is moved. */
interface Manifest {
  /** `beside`: within the same file system; `elsewhere`: in the data folder, so that room is made at once. */
  readonly place: "beside" | "elsewhere";
  readonly files: readonly { path: string; to: string; bytes: number; inode: number }[];
}

/** Mark that tells what was moved where. */
export const MANIFEST = "aside.json";
/** Mark of what can't be put back any more. */
export const PURGED = "purged";
/** Room that the data folder keeps for itself, bytes. */
const KEEP_FREE = 256 * 2 ** 20;

/**
 * Moves old files aside. Given again after a crash it goes on where it was: the manifest says of each file where it was
 * and where it is to be, and each is moved as a whole or not at all.
 *
 * @param withinMs after this time it leaves the rest where it is
 */
export async function moveAside(
  order: AsideOrder,
  clean: Clean,
  limit: CleanLimit,
  withinMs: number,
): Promise<StepOutcome> {
  const marks = marksOf(order.dataDir, order.effectId);
  const deadline = Date.now() + withinMs;
  let manifest = readManifest(marks);
  if (!manifest) {
    try {
      manifest = newManifest(order, clean, limit);
      leaveMark(marks, MANIFEST, JSON.stringify(manifest));
    } catch (error) {
      if (error instanceof BadFolder) return refused(error.code);
      return refused(`aside_${codeOf(error)}`); // nothing was moved yet
    }
  }
  if (manifest.files.length === 0) return { ...refused("nothing_to_move"), ok: true };
  const counts = { files: 0, bytes: 0, left: 0 };
  for (const file of manifest.files) {
    const moved = Date.now() < deadline && await moveOne(file).catch(() => false);
    counts.files += moved ? 1 : 0;
    counts.bytes += moved ? file.bytes : 0;
    counts.left += moved ? 0 : 1;
  }
  if (counts.files === 0) return refused("nothing_could_be_moved");
  return { state: "done", ok: true, code: `moved_${manifest.place}`, counts };
}

/** Moves everything back, as far as it was not purged. Never over a file that is there by now. */
export async function putBack(order: AsideOrder): Promise<StepOutcome> {
  const marks = marksOf(order.dataDir, order.effectId);
  const manifest = readManifest(marks);
  if (!manifest) return refused("nothing_was_moved");
  const counts = { files: 0, left: 0 };
  for (const file of manifest.files.toReversed()) {
    const back = await backOne(file).catch(() => "stays" as const);
    if (back === "back") counts.files++;
    if (back === "stays") counts.left++;
  }
  removeEmpty(manifest);
  if (markOf(marks, PURGED) !== undefined) return { ...refused("purged"), counts };
  return { state: "done", ok: counts.left === 0, code: "put_back", counts };
}

/**
 * Deletes what was moved aside within its own file system, which is what makes room there. What was moved elsewhere made
 * room when it was moved, and stays until {@linkcode deleteExpiredAside}.
 */
export function purgeAside(order: AsideOrder): StepOutcome {
  const marks = marksOf(order.dataDir, order.effectId);
  const manifest = readManifest(marks);
  if (!manifest) return { ...refused("nothing_was_moved"), ok: true };
  if (manifest.place === "elsewhere") return { ...refused("kept_elsewhere"), ok: true };
  leaveMark(marks, PURGED, new Date().toISOString());
  const folders = new Set(manifest.files.map(({ to }) => dirname(to)));
  for (const folder of folders) {
    if (isOurs(dirname(folder))) rmSync(folder, { recursive: true, force: true });
  }
  removeEmpty(manifest);
  const files = manifest.files.length;
  return { state: "done", ok: true, code: "purged", counts: { files } };
}

/** Leaves no empty folders behind. */
function removeEmpty({ files }: Manifest): void {
  const folders = new Set(files.map(({ to }) => dirname(to)));
  for (const folder of [...folders, ...new Set([...folders].map((path) => dirname(path)))]) {
    try {
      rmdirSync(folder);
    } catch {
      // Something is still in it, of this act or of another.
    }
  }
}

/** How long what was moved elsewhere is kept, milliseconds. */
const KEPT_MS = 7 * 86_400_000;

/** Deletes what was moved into the data folder and has been kept long enough. */
export function deleteExpiredAside(dataDir: string, now = Date.now()): void {
  const folder = join(dataDir, "aside");
  if (!existsSync(folder)) return;
  for (const effectId of readdirSync(folder)) {
    const path = join(folder, effectId);
    if (now - statSync(path).mtimeMs < KEPT_MS) continue;
    leaveMark(marksOf(dataDir, effectId), PURGED, new Date(now).toISOString());
    rmSync(path, { recursive: true, force: true });
  }
}

/** Decides what is moved where. @throws {BadFolder} */
function newManifest(order: AsideOrder, clean: Clean, limit: CleanLimit): Manifest {
  const plan = planClean(clean, limit);
  const folders = clean.folders.map(checkedFolder);
  const place = hasRoom(order.dataDir, clean, plan.bytes) ? "elsewhere" : "beside";
  const elsewhere = join(order.dataDir, "aside", order.effectId);
  const folderOf = (file: PlannedFile) =>
    folders.filter((folder) => file.path.startsWith(`${folder}/`)).toSorted((a, b) =>
      b.length - a.length
    )[0]!;
  const files = plan.files.map(({ path, bytes, inode }, n) => {
    const aside = place === "elsewhere"
      ? elsewhere
      : join(folderOf({ path, bytes, inode }), ASIDE, order.effectId);
    return { path, to: join(aside, String(n)), bytes, inode };
  });
  for (const folder of new Set(files.map(({ to }) => dirname(to)))) {
    ourFolder(dirname(folder));
    ourFolder(folder);
  }
  return { place, files };
}

/**
 * Whether room is made by moving files into the data folder: it is on another file system than all of these and has room
 * to spare, or it is on the same and outside of the folder whose bound is to be kept.
 */
function hasRoom(dataDir: string, { folders, quota }: Clean, wanted: number): boolean {
  const { dev } = statSync(dataDir);
  const beside = folders.some((folder) => statSync(folder).dev === dev);
  if (beside) return quota !== undefined && !`${dataDir}/`.startsWith(`${quota.path}/`);
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize > wanted * 1.1 + KEEP_FREE;
}

function readManifest(marks: string): Manifest | undefined {
  const text = markOf(marks, MANIFEST);
  return text === undefined ? undefined : JSON.parse(text);
}

const refused = (code: string): StepOutcome => ({ state: "not_done", ok: false, code });
const codeOf = (error: unknown) =>
  ((error as NodeJS.ErrnoException).code ?? "failed").toLowerCase();

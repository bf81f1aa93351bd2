import { existsSync, readdirSync, rmdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathBelow } from "../../integrations/files/mod.ts";
import { ASIDE, BadFolder, checkFolder } from "./_files.ts";
import { createMark, marksFolder, readMark, writeMark } from "./_marks.ts";
import { isOwnFolder, makeOwnFolder, moveBack, moveFile } from "./_move.ts";
import { type Act, notDone, type StepOutcome } from "./_outcome.ts";
import { type Clean, type CleanLimit, planClean, type PlannedFile } from "./plan.ts";

/** The clean step that moved files, or is to. */
type CleanAct = Pick<Act, "dataDir" | "effectId">;

/** A file that is moved aside. */
interface MovedFile extends PlannedFile {
  /** Place to which it is moved. */
  readonly to: string;
}

/** List of the files that a clean step moves. It is written before the first one is moved. */
interface Manifest {
  /** `beside`: within the same file system; `elsewhere`: in the data folder, so that room is made at once. */
  readonly place: "beside" | "elsewhere";
  readonly files: readonly MovedFile[];
}

/** Mark with the {@linkcode Manifest}. */
export const MANIFEST = "aside.json";
/** Mark of files that can't be put back any more. */
export const PURGED = "purged";
/** Room that stays free on the file system of the data folder, bytes. */
const MIN_FREE_BYTES = 256 * 2 ** 20;
/** Time that files in the data folder are kept. */
const RETENTION_MS = 7 * 86_400_000;

/**
 * Moves old files aside. Repeated after a crash it goes on where it was: the manifest lists where each file was and is to
 * be, and each file is moved as a whole or not at all. Files that there is no time for stay where they are.
 */
export async function moveAside(
  act: Act,
  clean: Clean,
  limit: CleanLimit,
): Promise<StepOutcome> {
  const deadline = Date.now() + act.withinMs;
  let manifest: Manifest;
  try {
    manifest = loadManifest(act, clean, limit);
  } catch (error) {
    return notDone(error instanceof BadFolder ? error.code : `aside_${systemCode(error)}`);
  }
  if (manifest.files.length === 0) return { ...notDone("nothing_to_move"), ok: true };
  const counts = { files: 0, bytes: 0, left: 0 };
  for (const file of manifest.files) {
    const moved = Date.now() < deadline && await moveFile(file).catch(() => false);
    if (moved) {
      counts.files++;
      counts.bytes += file.bytes;
    } else counts.left++;
  }
  if (counts.files === 0) return notDone("nothing_could_be_moved");
  return { state: "done", ok: true, code: `moved_${manifest.place}`, counts };
}

/** Moves everything back that was not purged. Never replaces a file that took the place of one. */
export async function putBack(act: CleanAct): Promise<StepOutcome> {
  const marks = marksFolder(act.dataDir, act.effectId);
  const manifest = readManifest(marks);
  if (!manifest) return notDone("nothing_was_moved");
  const counts = { files: 0, left: 0 };
  for (const file of manifest.files.toReversed()) {
    const result = await moveBack(file).catch(() => "stays" as const);
    if (result === "back") counts.files++;
    if (result === "stays") counts.left++;
  }
  removeEmptyFolders(manifest);
  if (readMark(marks, PURGED) !== undefined) return { ...notDone("purged"), counts };
  return { state: "done", ok: counts.left === 0, code: "put_back", counts };
}

/**
 * Deletes files that were moved aside within their own file system, which makes room there. Files that were moved elsewhere
 * made room when they were moved, and stay until {@linkcode deleteExpiredAside}.
 */
export function purgeAside(act: CleanAct): StepOutcome {
  const marks = marksFolder(act.dataDir, act.effectId);
  const manifest = readManifest(marks);
  if (!manifest) return { ...notDone("nothing_was_moved"), ok: true };
  if (manifest.place === "elsewhere") return { ...notDone("kept_elsewhere"), ok: true };
  writeMark(marks, PURGED, new Date().toISOString());
  for (const folder of foldersOf(manifest)) {
    if (isOwnFolder(dirname(folder))) rmSync(folder, { recursive: true, force: true });
  }
  removeEmptyFolders(manifest);
  return { state: "done", ok: true, code: "purged", counts: { files: manifest.files.length } };
}

/** Deletes files that were moved into the data folder and have been kept long enough. */
export function deleteExpiredAside(dataDir: string, now = Date.now()): void {
  const folder = join(dataDir, "aside");
  if (!existsSync(folder)) return;
  for (const effectId of readdirSync(folder)) {
    const path = join(folder, effectId);
    if (now - statSync(path).mtimeMs < RETENTION_MS) continue;
    writeMark(marksFolder(dataDir, effectId), PURGED, new Date(now).toISOString());
    rmSync(path, { recursive: true, force: true });
  }
}

/** Returns the manifest of an act. Of several processes that plan the same act, the first one's plan is carried out. */
function loadManifest(act: CleanAct, clean: Clean, limit: CleanLimit): Manifest {
  const marks = marksFolder(act.dataDir, act.effectId);
  const known = readManifest(marks);
  if (known) return known;
  const planned = planManifest(act, clean, limit);
  const isFirst = createMark(marks, MANIFEST, JSON.stringify(planned));
  return isFirst ? planned : readManifest(marks)!;
}

/** Decides which file is moved where. @throws {BadFolder} */
function planManifest(act: CleanAct, clean: Clean, limit: CleanLimit): Manifest {
  const plan = planClean(clean, limit);
  const folders = clean.folders.map(checkFolder).toSorted((a, b) => b.length - a.length);
  const place = hasRoomElsewhere(act.dataDir, clean, plan.bytes) ? "elsewhere" : "beside";
  const files = plan.files.map(({ path, bytes, inode }, n): MovedFile => {
    const folder = folders.find((one) => path.startsWith(`${one}/`))!;
    const aside = place === "elsewhere"
      ? pathBelow(join(act.dataDir, "aside"), act.effectId)
      : pathBelow(join(folder, ASIDE), act.effectId);
    return { path, to: join(aside, String(n)), bytes, inode };
  });
  const manifest: Manifest = { place, files };
  for (const folder of foldersOf(manifest)) {
    makeOwnFolder(dirname(folder));
    makeOwnFolder(folder);
  }
  return manifest;
}

/**
 * Returns whether moving files into the data folder makes room: it is on another file system than all of them and has room
 * to spare, or it is on the same one but outside of the folder whose bound is to be kept.
 */
function hasRoomElsewhere(dataDir: string, { folders, quota }: Clean, bytes: number): boolean {
  const { dev } = statSync(dataDir);
  const sameDevice = folders.some((folder) => statSync(folder).dev === dev);
  if (sameDevice) return quota !== undefined && !`${dataDir}/`.startsWith(`${quota.path}/`);
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize > bytes * 1.1 + MIN_FREE_BYTES;
}

/** Removes the folders of moved files that are empty by now. */
function removeEmptyFolders(manifest: Manifest): void {
  const folders = foldersOf(manifest);
  for (const folder of [...folders, ...new Set(folders.map((path) => dirname(path)))]) {
    try {
      rmdirSync(folder);
    } catch {
      // Something is still in it, of this act or of another.
    }
  }
}

function foldersOf({ files }: Manifest): string[] {
  return [...new Set(files.map(({ to }) => dirname(to)))];
}

function readManifest(marks: string): Manifest | undefined {
  const text = readMark(marks, MANIFEST);
  return text === undefined ? undefined : JSON.parse(text);
}

function systemCode(error: unknown): string {
  return ((error as NodeJS.ErrnoException).code ?? "failed").toLowerCase();
}

import { existsSync, statSync } from "node:fs";
import { NotApplicable } from "./errors.ts";
import type { ResolvedStep } from "./schema.ts";

/** A disk that is full: a path of its file system, or a folder with a bound of its own. */
export interface TargetDisk {
  readonly path: string;
  /** Bound of the folder. */
  readonly maxBytes?: number;
}

/**
 * Keeps only those of a step's folders that exist and are on the disk in question. Where it is a folder with a bound, the
 * step is measured against that.
 *
 * @throws {NotApplicable} no folder is left
 */
export function restrictToDisk(step: ResolvedStep, disk: TargetDisk | undefined): ResolvedStep {
  const room = step.command?.room_in;
  if (disk && room !== undefined && !(existsSync(room) && isOn(room, disk))) {
    throw new NotApplicable("other_disk", `${room}: not on the disk of ${disk.path}`);
  }
  const quota = disk?.maxBytes === undefined
    ? undefined
    : { path: disk.path, bytes: disk.maxBytes };
  const measured = quota ? measureAgainst(step, quota) : step;
  const { clean } = step;
  if (!clean) return measured;
  const folders = foldersOn(clean.folders, disk);
  return { ...measured, clean: { ...clean, folders, ...(quota ? { quota } : {}) } };
}

/** Measures a look at the bounded folder against the bound. */
function measureAgainst(
  step: ResolvedStep,
  quota: { readonly path: string; readonly bytes: number },
): ResolvedStep {
  const { verify } = step;
  if (!verify || !("disk" in verify.look) || verify.look.disk !== quota.path) return step;
  return { ...step, verify: { ...verify, look: { ...verify.look, of_bytes: quota.bytes } } };
}

function foldersOn(folders: readonly string[], disk: TargetDisk | undefined): string[] {
  const existing = folders.filter((folder) => existsSync(folder));
  if (existing.length === 0) {
    throw new NotApplicable("folder_missing", `${folders.join(", ")}: not there`);
  }
  if (!disk) return existing;
  const wanted = existing.filter((folder) => isOn(folder, disk));
  if (wanted.length > 0) return wanted;
  throw new NotApplicable("other_disk", `${existing.join(", ")}: not on the disk of ${disk.path}`);
}

/** Returns whether cleaning a folder makes room on the disk. */
function isOn(folder: string, { path, maxBytes }: TargetDisk): boolean {
  if (maxBytes !== undefined) return `${folder}/`.startsWith(`${path}/`);
  return existsSync(path) && statSync(folder).dev === statSync(path).dev;
}

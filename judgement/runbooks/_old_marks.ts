import { type Dirent, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathBelow } from "../../integrations/files/mod.ts";
import { belongsToEffect, readMarks } from "../../integrations/host/mod.ts";
import { MANIFEST, PURGED } from "./_aside.ts";
import { marksFolder } from "./_marks.ts";

/** Time that the marks of an act are kept. */
export const MARK_RETENTION_DAYS = 7;
const DAY_MS = 86_400_000;

/**
 * Lists the effect ids whose marks, as far as this host can tell, are not needed any more: nothing was added to them within
 * {@linkcode MARK_RETENTION_DAYS}, no process of theirs runs or is managed, and no file that was moved aside can be put
 * back.
 */
export function listExpiredMarks(dataDir: string, now = Date.now()): string[] {
  const managed = managedEffects(dataDir);
  const folders = entriesOf(join(dataDir, "effects")).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).filter((effectId) => {
    const marks = marksFolder(dataDir, effectId);
    return now - lastChange(marks) > MARK_RETENTION_DAYS * DAY_MS && !managed.has(effectId) &&
      !belongsToEffect(readMarks(marks).started ?? 0, effectId) && !holdsAside(dataDir, effectId);
  });
}

/** Removes the marks of acts, for good. */
export function removeMarks(dataDir: string, effectIds: readonly string[]): void {
  for (const id of effectIds) rmSync(marksFolder(dataDir, id), { recursive: true, force: true });
}

/** Returns whether files that were moved aside can be put back. The marks are needed for that. */
function holdsAside(dataDir: string, effectId: string): boolean {
  const marks = marksFolder(dataDir, effectId);
  return existsSync(pathBelow(join(dataDir, "aside"), effectId)) ||
    existsSync(join(marks, MANIFEST)) && !existsSync(join(marks, PURGED));
}

/** Milliseconds since 1970. */
function lastChange(folder: string): number {
  const times = ["", ...entriesOf(folder).map(({ name }) => name)].map((name) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  );
  return Math.max(...times);
}

/** Lists the restarts whose process is, or was the last, that the platform runs for a service. */
function managedEffects(dataDir: string): Set<string> {
  const folder = join(dataDir, "processes");
  const files = entriesOf(folder).filter(({ name }) => name.endsWith(".json"));
  return new Set(files.flatMap(({ name }) => {
    try {
      return [JSON.parse(readFileSync(join(folder, name), "utf8")).effect_id];
    } catch {
      return []; // it has just been replaced
    }
  }));
}

function entriesOf(path: string): Dirent[] {
  return existsSync(path) ? readdirSync(path, { withFileTypes: true }) : [];
}

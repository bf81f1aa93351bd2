import { type Dirent, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { belongsToEffect, readMarks } from "../integrations/host/mod.ts";
import { join } from "node:path";
import { MANIFEST, PURGED } from "./aside.ts";
import { marksOf } from "./_marks.ts";

/** How long what an act has left of itself is kept, days. */
export const MARK_RETENTION_DAYS = 7;
const DAY_MS = 86_400_000;

/**
 * Effect ids whose marks, as far as this host can tell, nobody needs any more: nothing was added to them for a week, no
 * process of theirs runs or is managed, and no file that was moved aside waits to be put back.
 */
export function listExpiredMarks(dataDir: string, now = Date.now()): string[] {
  const managed = managedEffects(dataDir);
  return foldersOf(join(dataDir, "effects")).filter((effectId) => {
    const marks = marksOf(dataDir, effectId);
    return now - changedAt(marks) > MARK_RETENTION_DAYS * DAY_MS && !managed.has(effectId) &&
      !belongsToEffect(readMarks(marks).started ?? 0, effectId) && !holdsAside(dataDir, effectId);
  });
}

/** Removes the marks of acts, for good. */
export function removeMarks(dataDir: string, effectIds: readonly string[]): void {
  for (const id of effectIds) rmSync(marksOf(dataDir, id), { recursive: true, force: true });
}

/** What was moved aside can be put back by the marks alone. */
function holdsAside(dataDir: string, effectId: string): boolean {
  const marks = marksOf(dataDir, effectId);
  return existsSync(join(dataDir, "aside", effectId)) ||
    existsSync(join(marks, MANIFEST)) && !existsSync(join(marks, PURGED));
}

/** Milliseconds since 1970. */
function changedAt(folder: string): number {
  const times = ["", ...entriesOf(folder).map(({ name }) => name)].map((name) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  );
  return Math.max(...times);
}

/** Restarts whose process is the one that the platform runs for a service, or was the last. */
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

const foldersOf = (path: string) =>
  entriesOf(path).filter((entry) => entry.isDirectory()).map(({ name }) => name);

function entriesOf(path: string): Dirent[] {
  return existsSync(path) ? readdirSync(path, { withFileTypes: true }) : [];
}

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import {
  describeWhileRefused,
  SETTINGS_FILES,
  type SettingsFileName,
} from "../../contract/domain/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import {
  lockSettingsFile,
  putSettingsFile,
  type SettingsFileRecord,
  type SettingsMistake,
} from "../../store/platform/mod.ts";
import { BadFile } from "../files/mod.ts";

/** A settings file of this host. */
interface NamedFile {
  readonly name: SettingsFileName;
  readonly path: string;
}

/** Mistakes of a file that are told. */
const MAX_TOLD = 3;
/** Says of a file that was taken and is gone that it still holds. */
const GONE =
  "it does not exist any more, and what it said stays in force; an empty file takes it back";

/**
 * Stores what came of reading a file of this host, and tells it in the operator's feed where it is news.
 *
 * @param mistakes empty: it was taken
 * @returns what is stored, or undefined where it was known
 */
export async function noteSettingsFile(
  store: Store,
  { name, path }: NamedFile,
  mistakes: readonly SettingsMistake[],
): Promise<SettingsFileRecord | undefined> {
  const host = hostname();
  const hash = hashOf(path);
  return await store.asPlatform().transaction(async (trx) => {
    const before = await lockSettingsFile(trx, { name, host });
    if (!before && hash === null && mistakes.length === 0) return undefined; // there never was one
    const isGone = before !== undefined && hash === null && mistakes.length === 0 &&
      SETTINGS_FILES[name].keeps === "before";
    const found = isGone ? [wholeFile(path, GONE)] : mistakes;
    const record = await putSettingsFile(trx, { name, host, path, hash, mistakes: found });
    if (record) await tell(trx, record, before);
    return record;
  });
}

/** Returns what is wrong with a file, as the error of reading it has it. */
export function mistakesOf(error: unknown, path: string): SettingsMistake[] {
  const bad = error instanceof BadFile
    ? error
    : error instanceof Error && error.cause instanceof BadFile
    ? error.cause
    : undefined;
  if (!bad) return [{ ...wholeFile(path, messageOf(error)), open: null }];
  return bad.mistakes.map(({ line, column = null, text, open = null }) => ({
    file: bad.path ?? path,
    line,
    column,
    text,
    open,
  }));
}

function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ? `it can't be read (${code})` : message;
}

function wholeFile(file: string, text: string): SettingsMistake {
  return { file, line: null, column: null, text, open: text };
}

/** Tells of a reading that differs from the one before. */
async function tell(
  trx: Db,
  record: SettingsFileRecord,
  before: SettingsFileRecord | undefined,
): Promise<void> {
  const { name, path, state, hash } = record;
  const file = basename(path);
  const isMended = state === "taken" && before?.state === "refused";
  const subject = state === "refused"
    ? `${file} was refused`
    : hash === null
    ? `${file} was removed`
    : isMended
    ? `${file} was mended and taken`
    : `${file} was taken`;
  const text = state === "refused"
    ? describeRefusal(record).slice(1).join("\n")
    : `It is the ${SETTINGS_FILES[name].title}: ${path}`;
  await addMessage(trx, {
    kind: state === "refused" ? "settings.refused" : "settings.taken",
    from: "settings",
    subject,
    text,
    severity: state === "refused" ? "high" : "low",
  });
}

/** Says that a file was refused, what is wrong with it, what holds meanwhile, and how to check it. */
export function describeRefusal(
  { name, path, mistakes, takenAt }: SettingsFileRecord,
): readonly string[] {
  return [
    `${basename(path)} was refused`,
    ...mistakes.slice(0, MAX_TOLD)
      .map((one) => describeMistake({ ...one, file: basename(one.file) })),
    ...(mistakes.length > MAX_TOLD ? [`${mistakes.length - MAX_TOLD} more mistakes`] : []),
    describeWhileRefused(name, takenAt),
    "npm run check-files",
  ];
}

/** Describes a mistake in a line: `/srv/sealoop.comms.yaml:3:5: what is wrong`, with the whole path of its file. */
export function describeMistake({ file, line, column, text }: SettingsMistake): string {
  const place = [file, line, column].filter((part) => part !== null).join(":");
  return `${place}: ${text}`;
}

/** Returns the SHA-256 of a file, or of all files of a folder with their names; null: there is none, or it can't be read. */
function hashOf(path: string): string | null {
  if (!existsSync(path)) return null;
  const hash = createHash("sha256");
  try {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) {
        hash.update(`${name}\0`).update(readFileSync(join(path, name))).update("\0");
      }
    } else hash.update(readFileSync(path));
    return hash.digest("hex");
  } catch {
    return null;
  }
}

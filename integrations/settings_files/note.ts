import { hostname } from "node:os";
import { basename } from "node:path";
import {
  describeWhileRefused,
  say,
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

/** A settings file of a place. */
interface NamedFile {
  readonly name: SettingsFileName;
  readonly path: string;
  readonly place: string;
}

/** Mistakes of a file that are told. */
const MAX_TOLD = 3;

/** Reading of a settings file. */
export interface Reading {
  /** SHA-256 of what was read; null: there is no file. */
  readonly hash: string | null;
  /** Empty: it was taken, or it is not for this place to put. */
  readonly mistakes: readonly SettingsMistake[];
  /** Version in force, where another place or a command puts the file; null: there is none. Absent: this place puts it. */
  readonly follows?: { readonly version: number; readonly sha256: string } | null;
}

/**
 * Stores what came of reading a file of this place, and tells it in the operator's feed where it is news.
 */
export async function noteSettingsFile(
  store: Store,
  { name, path, place }: NamedFile,
  { hash, mistakes, follows }: Reading,
): Promise<void> {
  const host = hostname();
  await store.asPlatform().transaction(async (trx) => {
    const before = await lockSettingsFile(trx, { name, place });
    if (!before && hash === null && mistakes.length === 0) return; // there never was one
    const record = await putSettingsFile(trx, { name, place, host, path, hash, mistakes });
    if (!record) return; // it was known
    if (!follows) {
      if (follows === undefined) await tell(trx, record, before);
    } else if (hash !== null && hash !== follows.sha256) {
      await tellDrift(trx, record, follows.version);
    }
  });
}

/** Says of a file that was taken and is gone that it still holds. */
export function goneFile(path: string): SettingsMistake {
  return wholeFile(
    path,
    "it does not exist any more, and what it said stays in force; an empty file takes it back",
  );
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
    ? say`${file} was refused`
    : hash === null
    ? say`${file} was removed`
    : isMended
    ? say`${file} was mended and taken`
    : say`${file} was taken`;
  const text = state === "refused"
    ? describeRefusal(record).slice(1).join("\n")
    : say`It is the ${SETTINGS_FILES[name].title}: ${path}`;
  await addMessage(trx, {
    kind: state === "refused" ? "settings.refused" : "settings.taken",
    from: "settings",
    subject,
    text,
    severity: state === "refused" ? "high" : "low",
  });
}

/** Tells of a file that differs from what is in force, and that nobody puts. */
async function tellDrift(
  trx: Db,
  { name, path, place }: SettingsFileRecord,
  version: number,
): Promise<void> {
  await addMessage(trx, {
    kind: "settings.refused",
    from: "settings",
    subject: `${basename(path)} of ${place} differs from what is in force`,
    text: `${describeDrift(name, version)}: ${path}`,
    severity: "medium",
  });
}

/** Says what holds where a worker's file differs, and what would be right. */
export function describeDrift(name: SettingsFileName, version: number): string {
  return `version ${version} of the ${
    SETTINGS_FILES[name].title
  } stays in force; npm run config -- diff ${name} shows how the file differs, npm run config -- put ${name} puts it in ` +
    `force, and without the file there is nothing to differ`;
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

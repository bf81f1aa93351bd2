import type { Config } from "../../config.ts";
import { isDatabaseAway } from "../../contract/mod.ts";
import { describeSettingsFile, type SettingsFileName } from "../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import {
  addConfigVersion,
  type ConfigFile,
  type ConfigVersion,
  findConfigInForce,
  findLastPutFrom,
  lockConfig,
} from "../../store/platform/mod.ts";
import { ownFilePath } from "../files/mod.ts";
import { readContent, type SettingsContent } from "./content.ts";
import { forgetVersions } from "./in_force.ts";
import { describeDrift, goneFile, mistakesOf, noteSettingsFile, type Reading } from "./note.ts";

/** A settings file of this machine. */
export interface OwnFile {
  readonly name: SettingsFileName;
  /**
   * Reads a file as the platform would, and puts nothing in force.
   *
   * @throws {BadFile} what is wrong with it
   */
  check(path: string): unknown;
}

/** Who puts a version: the file of a place, or the user who runs a command. */
type Putter = { readonly place: string; readonly path: string } | { readonly user: string };

/** Names a file in the database: that of a place, or the one for all. */
export function configFileOf(name: SettingsFileName, place: string): ConfigFile {
  return { file: name, place: describeSettingsFile(name).ofEachPlace ? place : "" };
}

/**
 * Puts the file of this machine in force where that is its place to do and it has changed, and notes what came of it. Where
 * it is not, the file is only held against what is in force.
 *
 * @returns why the file is not followed, which is no mistake in it; undefined: it is
 * @throws {BadFile} the file is wrong; what was in force stays
 */
export async function putOwnFile(
  { name, check }: OwnFile,
  config: Config,
  store: Store,
): Promise<string | undefined> {
  const path = ownFilePath(config, name);
  const named = { name, path, place: config.place };
  const file = configFileOf(name, config.place);
  const inForce = await findConfigInForce(store.asPlatform(), file);
  let own: SettingsContent | undefined;
  const note = (reading: Omit<Reading, "hash">) =>
    noteSettingsFile(store, named, { hash: own?.sha256 ?? null, ...reading });
  try {
    own = readContent(name, path);
    if (!isPutHere(config, file, path, inForce)) {
      await note({ mistakes: [], follows: inForce ?? null });
      const differs = own && inForce && own.sha256 !== inForce.sha256;
      return differs ? describeDrift(name, inForce.version) : undefined;
    }
    await check(path);
    if (readContent(name, path)?.sha256 !== own?.sha256) return undefined; // it is being written; the next look takes it
  } catch (error) {
    if (!isDatabaseAway(error)) await note({ mistakes: mistakesOf(error, path) });
    throw error;
  }
  if (own) {
    await putWhereChanged(store, config, file, { place: config.place, path }, own);
    const now = await findConfigInForce(store.asPlatform(), file);
    if (now && now.sha256 !== own.sha256) { // a command or another place has put another one since
      await note({ mistakes: [], follows: now });
      return describeDrift(name, now.version);
    }
  }
  const gone = own === undefined && inForce?.fromPath === path ? goneFile(path) : undefined;
  await note({ mistakes: gone ? [gone] : [] });
  return gone?.text;
}

/** Puts what a file of this machine says, unless it is what was last put from it. */
async function putWhereChanged(
  store: Store,
  config: Config,
  file: ConfigFile,
  from: { readonly place: string; readonly path: string },
  own: SettingsContent,
): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    await lockConfig(trx);
    const before = await findConfigInForce(trx, file);
    if (!isPutHere(config, file, from.path, before)) return; // another was faster
    const last = await findLastPutFrom(trx, file, from) ?? before?.sha256;
    if (last !== own.sha256) await addVersion(trx, file, own, from, before);
  });
  forgetVersions(store);
}

/**
 * Puts a version in force, whatever was in force before.
 *
 * @returns its number, and the one before; undefined: it is in force already
 */
export async function putConfig(
  store: Store,
  file: ConfigFile,
  content: SettingsContent,
  user: string,
): Promise<{ readonly version: number; readonly before: number | null } | undefined> {
  return await store.asPlatform().transaction(async (trx) => {
    await lockConfig(trx);
    const before = await findConfigInForce(trx, file);
    // Where a file of a place was put, a command takes it over, even with the same content.
    if (before?.sha256 === content.sha256 && before.fromPlace === null) return undefined;
    const version = await addVersion(trx, file, content, { user }, before);
    return { version, before: before?.version ?? null };
  });
}

/** Adds a version and seals that. Public are the file's name, the versions and their hashes' commitments. */
async function addVersion(
  trx: Db,
  file: ConfigFile,
  { sha256, content }: SettingsContent,
  by: Putter,
  before: ConfigVersion | undefined,
): Promise<number> {
  const receiptId = randomHex(16);
  const version = await addConfigVersion(trx, {
    ...file,
    sha256,
    content,
    fromPlace: "place" in by ? by.place : null,
    fromPath: "place" in by ? by.path : null,
    putBy: "user" in by ? by.user : null,
    receiptId,
  });
  await requestSeal(trx, {
    id: receiptId,
    category: "config_change",
    actor: "operator",
    subject: `config:${file.file}`,
    action: "config.put",
    outcome: "in_force",
    details: {
      device: file.file,
      change_type: "settings_file",
      version,
      by: "place" in by ? "file" : "command",
    },
    evidence: {
      version: JSON.stringify({
        place: file.place,
        sha256,
        sha256_before: before?.sha256 ?? null,
        ...by,
      }),
    },
  });
  return version;
}

/**
 * Returns whether the file of this machine is put in force when it changes: where `SEALOOP_CONFIG_PLACE` names its place;
 * else where the version in force was put from it, or where there is none.
 */
function isPutHere(
  { settings: { SEALOOP_CONFIG_PLACE: named }, place }: Config,
  file: ConfigFile,
  path: string,
  inForce: ConfigVersion | undefined,
): boolean {
  if (named === place) return true;
  if (named !== undefined && file.place === "") return false;
  return inForce === undefined || inForce.fromPlace === place && inForce.fromPath === path;
}

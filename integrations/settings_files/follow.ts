import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { isDatabaseAway } from "../../contract/mod.ts";
import { SETTINGS_FILES, type SettingsFileName } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { findConfigInForce, type SettingsMistake } from "../../store/platform/mod.ts";
import { copyPath, type FollowedFile, ownFilePath, stampOf } from "../files/mod.ts";
import { writeContent } from "./content.ts";
import { forgetVersions, listVersionsInForce } from "./in_force.ts";
import { mistakesOf, noteSettingsFile } from "./note.ts";
import { configFileOf, putOwnFile } from "./put.ts";

/** A settings file to follow. */
export interface SettingsFile {
  readonly name: SettingsFileName;
  /**
   * Reads the file of this machine as the platform would, before it is put. Absent: this process puts none, and looks at what
   * is in force alone.
   *
   * @throws {BadFile} what is wrong with it
   */
  check?(path: string): unknown;
  /**
   * Puts in force here what the version in force says. Called at the start and after each change. Absent: it is read at each
   * use.
   *
   * @param path of the copy of what is in force
   * @param exists false: nothing is in force
   * @throws {BadFile} why that can't be followed here
   */
  apply?(path: string, exists: boolean): void | Promise<void>;
}

/** Process that follows settings files. */
export interface Follower {
  readonly config: Config;
  readonly store: Store;
  readonly log: Logger;
}

const POLL_MS = 2_000;

/**
 * Follows a settings file, until it is stopped: puts the file of this machine in force where it is for this place to do, and
 * keeps a copy of what is in force, whoever put it. A file that is wrong changes nothing. While the database is away, what was
 * in force stays.
 */
export async function followSettingsFile(
  file: SettingsFile,
  follower: Follower,
): Promise<FollowedFile> {
  const { name } = file;
  const { config, store, log } = follower;
  const own = ownFilePath(config, name);
  const { title } = SETTINGS_FILES[name];
  const { file: inTable, place } = configFileOf(name, config.place);
  /** Versions and state of the file of this machine that were handled; null: none, or it is to be tried again. */
  let handledOwn: string | null = null;
  let handledVersion: number | null = null;
  let handledCopy: string | undefined;
  /** True: the file of this machine was refused. */
  let refused = false;
  /** True: what is in force can't be followed here. */
  let fails = false;
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (file.check) await lookAtOwn(file.check);
    await lookAtVersion();
  }

  /** Looks at the file of this machine where it, or the version in force, has changed. */
  async function lookAtOwn(check: NonNullable<SettingsFile["check"]>): Promise<void> {
    if (`${await getVersion()} ${stampOf(own)}` === handledOwn) return;
    const stamp = stampOf(own);
    try {
      const reason = await putOwnFile({ name, check }, config, store);
      if (reason) logFailure({ message: reason });
      handledOwn = `${await getVersion()} ${stamp}`;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      logFailure(error as Error);
      handledOwn = `${await getVersion()} ${stamp}`;
      refused = true;
    }
  }

  async function lookAtVersion(): Promise<void> {
    const path = copyPath(config, name);
    const isNew = await getVersion() !== handledVersion;
    if (!isNew && stampOf(path) === handledCopy) return;
    const inForce = await findConfigInForce(store.asPlatform(), { file: inTable, place });
    writeContent(name, path, inForce?.content);
    handledCopy = stampOf(path);
    if (!isNew) return; // the copy was changed, and is as it should be again
    try {
      await file.apply?.(path, inForce !== undefined);
      if (fails) await note(inForce?.sha256, []);
      fails = false;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      fails = true;
      await note(inForce?.sha256, mistakesOf(error, own));
      logFailure(error as Error);
    }
    handledVersion = inForce?.version ?? 0;
  }

  async function getVersion(): Promise<number> {
    const all = await listVersionsInForce(store);
    return all.find((one) => one.file === inTable && one.place === place)?.version ?? 0;
  }

  /** Notes whether what is in force can be followed here. */
  async function note(
    hash: string | undefined,
    mistakes: readonly SettingsMistake[],
  ): Promise<void> {
    if (!file.check) return; // the process that puts it does
    const named = { name, path: own, place: config.place };
    await noteSettingsFile(store, named, { hash: hash ?? null, mistakes });
  }

  function logFailure({ message }: Pick<Error, "message">): void {
    log.error({ path: own, reason: message }, `The ${title} is not followed`);
  }

  async function run(): Promise<void> {
    running ??= look().catch(logFailure).finally(() => running = undefined);
    await running;
  }

  /** Looks again, also at what could not be followed before. */
  async function refresh(): Promise<void> {
    await running;
    forgetVersions(store);
    if (refused) handledOwn = null;
    if (fails) handledVersion = null;
    refused = false;
    await run();
  }

  await refresh();
  const timer = setInterval(run, POLL_MS);
  return { refresh, stop: () => clearInterval(timer) };
}

import type { Logger } from "pino";
import { isDatabaseAway } from "../../contract/mod.ts";
import { SETTINGS_FILES, type SettingsFileName } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { type FollowedFile, followFile } from "../files/mod.ts";
import { mistakesOf, noteSettingsFile } from "./note.ts";

/** A settings file to follow. */
export interface SettingsFile {
  readonly name: SettingsFileName;
  /** Of the file, or of a folder of files. */
  readonly path: string;
  /**
   * Puts its content in force, or only reads it where it is read at each use. Called at the start and after each change.
   *
   * @param exists false: there is no file, or it was removed
   * @throws {BadFile} what is wrong with it
   */
  apply(exists: boolean): void | Promise<void>;
}

/**
 * Follows a settings file: applies it now and whenever it has changed, and notes what came of it. One that is wrong changes
 * nothing.
 */
export async function followSettingsFile(
  { name, path, apply }: SettingsFile,
  store: Store,
  log: Logger,
): Promise<FollowedFile> {
  const { title } = SETTINGS_FILES[name];
  return await followFile({
    path,
    name: title,
    log,
    async apply(exists) {
      try {
        await apply(exists);
      } catch (error) {
        if (!isDatabaseAway(error)) {
          await noteSettingsFile(store, { name, path }, mistakesOf(error, path));
        }
        throw error;
      }
      const gone = (await noteSettingsFile(store, { name, path }, []))?.mistakes[0];
      if (gone) log.error({ path, reason: gone.text }, `The ${title} is not followed`);
    },
  });
}

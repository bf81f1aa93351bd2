import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { pathBelow } from "../files/mod.ts";

/** Folder of the credentials in the data folder. */
const FOLDER = "credentials";
/** Rights of others than the owner. */
const OTHERS = 0o077;

/** A credential that can't be used. */
export class BadCredential extends Error {
  override readonly name = "BadCredential";
}

/**
 * Returns a credential, or undefined where there is none.
 *
 * @throws {BadCredential} others can read its file, or it is empty
 */
export function findCredential(
  config: Pick<Config, "settings" | "dataDir">,
  name: string,
): string | undefined {
  const isSet = config.settings.SEALOOP_CREDENTIALS[name] !== undefined;
  const exists = existsSync(pathOf(config.dataDir, name));
  return isSet || exists ? readCredential(config, name) : undefined;
}

/**
 * Returns a credential: from the setting `SEALOOP_CREDENTIALS`, or else from the file of its name in the data folder.
 *
 * @throws {BadCredential} there is none, or others can read its file. The message never contains it
 */
export function readCredential(
  { settings, dataDir }: Pick<Config, "settings" | "dataDir">,
  name: string,
): string {
  const set = settings.SEALOOP_CREDENTIALS[name];
  if (set !== undefined) return set;
  const path = pathOf(dataDir, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) {
    throw new BadCredential(
      `There is no credential ${name}: write it to ${path}, or set it in SEALOOP_CREDENTIALS`,
    );
  }
  if ((stats.mode & OTHERS) !== 0) {
    throw new BadCredential(`Others can read the credential ${name}: chmod 600 ${path}`);
  }
  const text = readFileSync(path, "utf8").trim();
  if (text === "") throw new BadCredential(`The credential ${name} is empty: ${path}`);
  return text;
}

function pathOf(dataDir: string, name: string): string {
  return pathBelow(join(dataDir, FOLDER), name);
}

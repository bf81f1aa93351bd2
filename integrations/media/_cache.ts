import { execFile } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder, makeInstallFolder, removeStaleInstalls } from "../../runtime/embedded/mod.ts";

const run = promisify(execFile);
const VERSION_TIMEOUT_MS = 20_000;
const INSTALL_TIMEOUT_MS = 600_000;
const MIN_PYTHON = [3, 10] as const;
const ASK_VERSION = "import sys; print(sys.executable, *sys.version_info[:2])";

/** A Python interpreter that is new enough. */
export interface Python {
  /** The program itself, not a script that chooses one. */
  readonly program: string;
  /** Such as `3.11`. */
  readonly version: string;
}

/** Returns the first of some programs that is a Python of version 3.10 or newer, or undefined. */
export async function findPython(candidates: readonly string[]): Promise<Python | undefined> {
  for (const candidate of candidates) {
    try {
      const { stdout } = await run(candidate, ["-c", ASK_VERSION], { timeout: VERSION_TIMEOUT_MS });
      const [, program, major, minor] = /^(.+) (\d+) (\d+)\s*$/.exec(stdout) ?? [];
      const isNew = Number(major) === MIN_PYTHON[0] && Number(minor) >= MIN_PYTHON[1];
      if (program && isNew) return { program, version: `${major}.${minor}` };
    } catch {
      // It is not there, or does not run.
    }
  }
  return undefined;
}

/** Returns whether the cache has a folder of packages. */
export function isInstalled(name: string): boolean {
  return existsSync(join(cacheFolder(), name));
}

/**
 * Returns a folder of the cache with packages of PyPI, and installs them first where it is missing. pip refuses a file
 * whose hash the requirements do not name.
 *
 * @param name of the folder, which tells the requirements and the interpreter
 * @param requirements path of the file with exact versions and hashes
 * @throws why they can't be installed: the last line of pip
 */
export async function installPackages(
  { program }: Python,
  name: string,
  requirements: string,
): Promise<string> {
  const folder = join(cacheFolder(), name);
  await removeStaleInstalls();
  if (isInstalled(name)) return folder;
  const fresh = makeInstallFolder(name);
  try {
    const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
    const exact = ["--require-hashes", "--no-deps", "--only-binary", ":all:"];
    await run(program, [...pip, ...exact, "--target", fresh, "--requirement", requirements], {
      timeout: INSTALL_TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    renameSync(fresh, folder);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (isInstalled(name)) return folder; // another process was first
    const { stderr, message } = error as Error & { stderr?: string };
    const lines = (stderr || message).trim().split("\n");
    throw new Error(lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1)!);
  }
  return folder;
}

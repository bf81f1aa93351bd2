/** Third-party programs that are no dependencies: installed once, into the user's cache. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "sealoop", "clients");
const INSTALL_TIMEOUT_MS = 180_000;

/** Installs an npm package. @returns its folder; undefined where no registry has it now */
export function npmPackage(name: string, version: string): Promise<string | undefined> {
  const folder = `${name.replace(/[@/]/g, "_")}-${version}`;
  return installed(folder, async (into) => {
    const args = ["install", "--prefix", into, "--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm", [...args, `${name}@${version}`], { timeout: INSTALL_TIMEOUT_MS });
  });
}

/** Installs a package in a Python environment. @returns its folder; undefined without Python or index */
export function pythonPackage(name: string, version: string): Promise<string | undefined> {
  return installed(`python-${name}-${version}`, async (into) => {
    await run("python3", ["-m", "venv", into], { timeout: INSTALL_TIMEOUT_MS });
    const pip = ["-m", "pip", "install", "--quiet", `${name}==${version}`];
    await run(join(into, "bin", "python"), pip, { timeout: INSTALL_TIMEOUT_MS });
  });
}

async function installed(
  name: string,
  install: (into: string) => Promise<void>,
): Promise<string | undefined> {
  const folder = join(CACHE, name);
  const marker = `${folder}.whole`; // a Python environment can't be moved into place
  if (existsSync(marker)) return folder;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    await install(folder);
    mkdirSync(`${marker}.new`, { recursive: true });
    renameSync(`${marker}.new`, marker);
    return folder;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

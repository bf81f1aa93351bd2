import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder, makeInstallFolder, removeStaleInstalls } from "./_cache.ts";
import { EmbeddedError } from "./_errors.ts";
import { downloadTemporal } from "./_temporal_archive.ts";
import { buildTemporal } from "./_temporal_build.ts";
import type { Tree } from "./tree.ts";

/** A Temporal CLI, which contains the server. */
export interface TemporalBinary {
  readonly path: string;
  /** Version of the server in it, such as `1.29.1`. A CLI that Go built does not know its own. */
  readonly version: string;
}

/** The oldest server whose CLI has all flags that are used. */
const MIN_VERSION = [1, 24] as const;

/**
 * Finds a Temporal server, or installs one: on PATH, in the project's cache below the user's cache folder, as the release
 * whose hash is pinned, by Go from modules whose hashes are. An installed one is kept in the cache.
 *
 * @param version of the CLI that is installed where none is found, such as `1.5.1`
 * @param progress called with the current activity, where it takes long
 * @param tree that the installing processes become part of
 * @param archives SHA-256 of the release's archives, by platform; default: none is downloaded
 * @throws {EmbeddedError} none can be installed; the message names three ways to get one
 */
export async function findTemporal(
  version: string,
  progress: (doing: string) => void,
  tree?: Tree,
  archives: Readonly<Record<string, string>> = {},
): Promise<TemporalBinary> {
  const cached = join(cacheFolder(), `temporal-${version}`, "temporal");
  await removeStaleInstalls();
  for (const path of [...findOnPath("temporal"), cached]) {
    const found = await readVersion(path);
    if (found) return { path, version: found };
  }
  const failures: string[] = [];
  const download = (folder: string) => {
    progress(`downloading the Temporal CLI ${version}`);
    return downloadTemporal(version, folder, archives);
  };
  const build = (folder: string) => {
    if (findOnPath("go").length === 0) throw new Error("Go is not installed");
    return buildTemporal(version, folder, { progress, tree });
  };
  for (const install of [download, build]) {
    const folder = makeInstallFolder("temporal");
    try {
      const path = await install(folder);
      const found = await readVersion(path);
      if (!found) throw new Error("the result is not a Temporal that runs here");
      mkdirSync(dirname(cached), { recursive: true });
      renameSync(path, cached);
      return { path: cached, version: found };
    } catch (error) {
      failures.push((error as Error).message);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new EmbeddedError(
    [
      `Cannot find or install a Temporal server (${
        failures.join("; ")
      }). Each of these gives you one:`,
      "put the `temporal` command on the PATH (https://docs.temporal.io/cli/setup-cli)",
      "install Go 1.25 or newer, with which it is built at the next start",
      "set TEMPORAL_ADDRESS to a server that is running elsewhere",
    ].join("\n  - "),
  );
}

/** Returns the version of the server in a CLI that runs and is new enough. */
async function readVersion(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: 20_000 });
    const [, version, major, minor] = /Server v?((\d+)\.(\d+)[\w.-]*)/.exec(stdout) ?? [];
    const isNew = Number(major) > MIN_VERSION[0] ||
      Number(major) === MIN_VERSION[0] && Number(minor) >= MIN_VERSION[1];
    return isNew ? version : undefined;
  } catch {
    return undefined;
  }
}

function findOnPath(name: string): string[] {
  return (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((dir) => join(dir, name))
    .filter((path) => existsSync(path));
}

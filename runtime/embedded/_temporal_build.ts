import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { identifyProcess } from "./process_id.ts";
import type { Tree } from "./tree.ts";

const PACKAGE = "github.com/temporalio/cli/cmd/temporal";
/** A Go module that requires the CLI, with the hash of every module that it is built from. */
const MODULE = join(ROOT, "runtime", "embedded", "temporal");

/** Options of a build. */
export interface BuildOptions {
  /** Called with the current activity. */
  readonly progress?: (doing: string) => void;
  /** The tree that Go becomes part of. */
  readonly tree?: Tree;
  /** Folder of the Go module; default: the project's. */
  readonly module?: string;
}

/**
 * Builds a Temporal CLI with Go. Go refuses a module whose hash is not the one in `go.sum`, and fetches no other Go.
 *
 * @param folder that the program is written into
 * @returns path of the program
 * @throws the last line of what Go says, where it fails
 */
export async function buildTemporal(
  version: string,
  folder: string,
  { progress = () => {}, tree, module = MODULE }: BuildOptions = {},
): Promise<string> {
  const pinned = /^\s*(?:require )?github\.com\/temporalio\/cli v(\S+)/m
    .exec(readFileSync(join(module, "go.mod"), "utf8"))?.[1];
  if (pinned !== version) {
    throw new Error(`runtime/embedded/temporal/go.mod pins ${pinned}, not ${version}`);
  }
  const started = Date.now();
  const report = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    progress(`building the CLI ${version} with Go, once: 2 to 4 minutes (${seconds} s)`);
  };
  report();
  const timer = setInterval(report, 5_000);
  const path = join(folder, "temporal");
  try {
    const child = spawn("go", ["build", "-o", path, PACKAGE], {
      cwd: module,
      env: {
        ...process.env,
        CGO_ENABLED: "0",
        GOFLAGS: "-mod=readonly -buildvcs=false",
        GOTOOLCHAIN: "local",
        GOWORK: "off",
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await waitForSuccess(child, tree, "Go could not build it");
    return path;
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
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => {
    text = `${text}${part}`.slice(-4_000);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (id) tree?.remove(id);
      if (code === 0) return resolve();
      const last = /^.*(?:mismatch|SECURITY ERROR).*$/m.exec(text)?.[0] ??
        text.trim().split("\n").at(-1);
      reject(new Error(last ? `${failure}: ${last}` : failure));
    });
  });
}

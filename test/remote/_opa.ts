/** Open Policy Agent, built from its Go module into a cache and run on loopback. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../_run.ts";

const MODULE = "github.com/open-policy-agent/opa";
const VERSION = "v1.4.2";
const FOLDER = join(homedir(), ".cache", "sealoop", "go");
const PROGRAM = join(FOLDER, "opa");

/** Builds OPA once. @returns the reason why it can't be had here; undefined: it is there */
export async function buildOpa(): Promise<string | undefined> {
  if (existsSync(PROGRAM)) return undefined;
  try {
    const env = { ...process.env, GOBIN: FOLDER, GOFLAGS: "-mod=mod" };
    await promisify(execFile)("go", ["install", `${MODULE}@${VERSION}`], { env });
    return undefined;
  } catch (error) {
    return `OPA can't be built from its Go module here: ${(error as Error).message.split("\n")[0]}`;
  }
}

/** Serves policies that clients with a token may ask. @param files Rego files */
export async function startOpa(files: readonly string[]) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(PROGRAM, [
    "run",
    "--server",
    `--addr=127.0.0.1:${port}`,
    "--authentication=token",
    "--authorization=basic",
    "--set=decision_logs.console=true",
    "--log-level=error",
    "--disable-telemetry",
    ...files,
  ], { stdio: "ignore" });
  const ended = once(server, "exit");
  for (let n = 0; n < 100; n++) {
    if (await fetch(`${url}/health`).then(() => true, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async close() {
      server.kill();
      await ended;
    },
  };
}

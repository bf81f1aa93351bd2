/** Programs built from their Go modules into a cache. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const FOLDER = join(homedir(), ".cache", "sealoop", "go");

/** Returns where a program is, once it is built. */
export function goProgram(name: string): string {
  return join(FOLDER, name);
}

/**
 * Builds a program once.
 *
 * @param path of its package with its version: `example.org/tool/cmd/tool@v1.2.3`
 * @returns the reason why it can't be had here; undefined: it is there
 */
export async function buildGo(name: string, path: string): Promise<string | undefined> {
  if (existsSync(goProgram(name))) return undefined;
  try {
    const env = { ...process.env, GOBIN: FOLDER, GOFLAGS: "-mod=mod" };
    await promisify(execFile)("go", ["install", path], { env });
    return undefined;
  } catch (error) {
    return `${name} can't be built from its Go module here: ${
      (error as Error).message.split("\n")[0]
    }`;
  }
}

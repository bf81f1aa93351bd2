import { spawn, type SpawnOptions } from "node:child_process";
import { closeSync } from "node:fs";
import { EmbeddedError } from "./_errors.ts";
import { openLog, readErrorLine } from "./_log_file.ts";
import type { Rank } from "./_stop_tree.ts";
import { identifyProcess, type ProcessId, stopProcess } from "./process_id.ts";
import type { Tree } from "./tree.ts";

/** A server program to start. */
export interface ServerProgram {
  /** Name for people. */
  readonly name: string;
  /** Name of its log in the data folder, without extension. */
  readonly logName: string;
  /** Pattern of the lines of its log that report why it has ended. */
  readonly errorLine: RegExp;
  readonly program: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions & { readonly env: NodeJS.ProcessEnv };
  /** Signal that asks it to end. */
  readonly signal: NodeJS.Signals;
  /** Time after the signal until it is killed. */
  readonly stopTimeoutMs: number;
  readonly rank: Rank;
}

/** A running server. */
export interface RunningServer {
  readonly process: ProcessId;
  /** Resolves when it has ended, asked to or not, with the line of its log that says why. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** Starts a server as part of a tree. @throws {EmbeddedError} it ended at once, with the reason */
export async function startServerProcess(
  dataDir: string,
  tree: Tree | undefined,
  { name, logName, errorLine, program, args, options, signal, stopTimeoutMs, rank }: ServerProgram,
): Promise<RunningServer> {
  const log = openLog(dataDir, logName);
  // In a process group of its own: Ctrl-C goes to the supervisor alone, which stops servers in order.
  const child = spawn(program, args, {
    ...options,
    cwd: "/",
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  const ended = new Promise<string>((resolve) => {
    child.once(
      "exit",
      (_, signal) => {
        resolve(signal ? `killed by ${signal}` : readErrorLine(dataDir, logName, errorLine));
      },
    );
    child.once("error", (error) => resolve(error.message));
  });
  const id = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (!id) throw new EmbeddedError(`${name} ended at once: ${await ended}`);
  tree?.add({ name, ...id, signal, rank });
  ended.then(() => tree?.remove(id));
  return {
    process: id,
    ended,
    async stop() {
      await stopProcess(id, signal, stopTimeoutMs);
      await ended;
    },
  };
}

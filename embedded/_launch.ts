import { spawn, type SpawnOptions } from "node:child_process";
import { closeSync } from "node:fs";
import { EmbeddedError } from "./_errors.ts";
import { openLog, telling } from "./_log_file.ts";
import { identifyProcess, type ProcessId, stopProcess } from "./_process_id.ts";
import type { Rank, Tree } from "./tree.ts";

/** A server program that is to be started. */
export interface ServerProgram {
  /** As people call it. */
  readonly name: string;
  /** Name of its log in the data folder, without an ending. */
  readonly logName: string;
  /** Lines of its log that tell why it has ended. */
  readonly errorLine: RegExp;
  readonly program: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions & { readonly env: NodeJS.ProcessEnv };
  /** That asks it to end. */
  readonly signal: NodeJS.Signals;
  /** When it is killed after that. */
  readonly stopMs: number;
  readonly rank: Rank;
}

/** A server that runs. */
export interface Launched {
  readonly process: ProcessId;
  /** Settles when it has ended, whether asked to or not, with the telling line of its log. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** Starts a server's program as part of a tree. @throws {EmbeddedError} it ended at once, with the reason */
export async function launch(
  dataDir: string,
  tree: Tree | undefined,
  { name, logName, errorLine, program, args, options, signal, stopMs, rank }: ServerProgram,
): Promise<Launched> {
  const log = openLog(dataDir, logName);
  // A group of its own: Ctrl-C in a terminal is for the supervisor, which stops things in their order.
  const child = spawn(program, args, {
    ...options,
    ...{ cwd: "/", stdio: ["ignore", log, log], detached: true },
  });
  closeSync(log);
  const ended = new Promise<string>((resolve) => {
    child.once(
      "exit",
      (_, by) => resolve(by ? `killed by ${by}` : telling(dataDir, logName, errorLine)),
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
      await stopProcess(id, signal, stopMs);
      await ended;
    },
  };
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { programPath } from "../../config.ts";
import { makeDataFolder, readJson } from "./_data_folder.ts";
import { lockFolder, unlockFolder } from "./_folder_lock.ts";
import {
  type RunFile,
  runFilePath,
  stopLeftovers,
  stopTree,
  type TreeProcess,
} from "./_stop_tree.ts";
import { bootId, identifyProcess, isRunning, type ProcessId, signalProcess } from "./process_id.ts";

/** The processes that run on a data folder. A folder has one tree at a time. */
export interface Tree {
  /**
   * Adds a process. From here on it is stopped together with this one, even if this one is killed. A process that is added
   * after {@linkcode stop} began is killed at once.
   */
  add(process: TreeProcess): void;
  /** Removes a process that has ended. */
  remove(process: ProcessId): void;
  /**
   * Stops all processes, and those that the platform manages for its user and is to stop with itself. Takes 15 seconds at
   * most.
   */
  stop(): Promise<void>;
  /** While stopping: kills all processes but PostgreSQL, which would lose nothing by it. */
  forceStop(): void;
  /** Releases the folder. All processes must have ended. */
  release(): Promise<void>;
}

/**
 * Claims a data folder for this process, creating it where it is missing, and stops the processes that a killed one left
 * running on it.
 *
 * The tree is recorded in `run.json`. A small process of its own (`_lifeline_program.ts`) waits for the end of this one and stops
 * the processes that are left. If that is killed as well, the next process that claims the folder stops them.
 *
 * @param options.onLeftovers called with the names of processes that were left running, before they are stopped
 * @param options.settings by which others on this machine reach what is about to run
 * @throws {EmbeddedError} another process has claimed it, or it can't be written to
 */
export async function claimDataFolder(
  dataDir: string,
  { onLeftovers, settings }: {
    readonly onLeftovers?: (names: readonly string[]) => void;
    readonly settings?: Readonly<Record<string, string>>;
  } = {},
): Promise<Tree> {
  const self = identifyProcess(process.pid)!;
  makeDataFolder(dataDir);
  lockFolder(dataDir, self);
  await stopLeftovers(dataDir, onLeftovers ? { onLeftovers } : {});

  const processes = new Map<number, TreeProcess>();
  let stopping = false;
  let released = false;
  const path = runFilePath(dataDir);
  const record = () => {
    if (released) return; // the end of a process may be noticed late
    const content: RunFile = {
      boot: bootId(),
      supervisor: self,
      processes: [...processes.values()],
      settings,
    };
    writeFileSync(`${path}.new`, JSON.stringify(content, null, 2) + "\n", { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  record();
  const endLifeline = startLifeline(dataDir, self);
  return {
    add: (added) => {
      processes.set(added.pid, added);
      record();
      if (stopping) signalProcess(added, "SIGKILL");
    },
    remove: ({ pid }) => {
      if (processes.delete(pid)) record();
    },
    stop: () => {
      stopping = true;
      return stopTree(dataDir, [...processes.values()]);
    },
    forceStop: () => {
      for (const one of processes.values()) if (one.rank < 3) signalProcess(one, "SIGKILL");
    },
    release: async () => {
      released = true;
      rmSync(path, { force: true });
      await endLifeline();
      unlockFolder(dataDir);
    },
  };
}

/**
 * Returns the settings by which what runs on a data folder is reached. Empty where nothing runs: what a killed process has
 * left in `run.json` counts no more than that of another boot.
 */
export function readRunningSettings(dataDir: string): Readonly<Record<string, string>> {
  const run = readJson(runFilePath(dataDir)) as RunFile | undefined;
  const runs = run?.boot === bootId() && isRunning(run.supervisor);
  return runs ? run.settings ?? {} : {};
}

/** @returns a function that ends the lifeline */
function startLifeline(dataDir: string, self: ProcessId): () => Promise<void> {
  const program = programPath("runtime/embedded/_lifeline_program.ts");
  const child = spawn(process.execPath, [program, dataDir, String(self.pid), self.start_time], {
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.unref();
  child.stdin.on("error", () => {});
  (child.stdin as unknown as { unref(): void }).unref();
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.stdin.end();
    child.ref();
    await ended;
  };
}

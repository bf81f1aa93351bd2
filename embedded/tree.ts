import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programPath } from "../config.ts";
import { EmbeddedError } from "./_errors.ts";
import { readJson } from "./_log_file.ts";
import {
  bootId,
  identifyProcess,
  isRunning,
  type ProcessId,
  signal,
  stopProcess,
} from "./_process_id.ts";

/** Lower ranks are stopped first: 1 what works, 2 what it works with, 3 PostgreSQL. */
export type Rank = 1 | 2 | 3;

/** A process that must not outlive the one which started it. */
export interface TreeProcess extends ProcessId {
  readonly name: string;
  /** How it is asked to end. */
  readonly signal: NodeJS.Signals;
  readonly rank: Rank;
}

/** The processes that run on a data folder, of which there is one tree at a time. */
export interface Tree {
  /**
   * Adds a process; from here on it is stopped with this one, even if this one is killed. One that comes after
   * {@linkcode stop} began is killed at once.
   */
  add(process: TreeProcess): void;
  /** Forgets a process that has ended. */
  remove(process: ProcessId): void;
  /** Stops all that was added, and the processes that the platform manages for its user: at most 15 seconds. */
  stop(): Promise<void>;
  /** While stopping: kills what would lose nothing by it, which is all but PostgreSQL. */
  forceStop(): void;
  /** Gives the folder free. All that was added must have ended. */
  release(): Promise<void>;
}

interface RunFile {
  readonly boot: string;
  readonly supervisor: ProcessId;
  readonly processes: readonly TreeProcess[];
}

/** What processes of each rank are given to end by themselves before they are killed, milliseconds; 15 s in all. */
const GRACE_MS: Readonly<Record<Rank, number>> = { 1: 8_500, 2: 3_500, 3: 3_000 };

/**
 * Takes a data folder for this process alone, making it where it is not there, and stops whatever a killed one left
 * running on it.
 *
 * The tree is written down in `run.json`, and a small process of its own (`lifeline.ts`) waits for our end: it stops
 * what is listed when we could not. If that is killed as well, whoever takes the folder next does it.
 *
 * @param leftOver told the names of what a killed one left running, before that is stopped
 * @throws {EmbeddedError} another process has it, or it can't be written to
 */
export async function claimDataFolder(
  dataDir: string,
  leftOver?: (names: readonly string[]) => void,
): Promise<Tree> {
  const self = identifyProcess(process.pid)!;
  makeFolder(dataDir);
  lock(dataDir, self);
  await stopLeftovers(dataDir, { leftOver });

  const processes = new Map<number, TreeProcess>();
  let stopping = false;
  let released = false;
  const path = join(dataDir, "run.json");
  const write = () => {
    if (released) return; // the end of a process may be heard of after all is over
    const content: RunFile = {
      boot: bootId(),
      supervisor: self,
      processes: [...processes.values()],
    };
    writeFileSync(`${path}.new`, JSON.stringify(content, null, 2) + "\n", { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  write();
  const cut = startLifeline(dataDir, self);
  return {
    add: (watched) => {
      processes.set(watched.pid, watched);
      write();
      if (stopping) signal(watched, "SIGKILL");
    },
    remove: ({ pid }) => {
      if (processes.delete(pid)) write();
    },
    stop: () => {
      stopping = true;
      return stopAll(dataDir, [...processes.values()]);
    },
    forceStop: () => {
      for (const watched of processes.values()) if (watched.rank < 3) signal(watched, "SIGKILL");
    },
    release: async () => {
      released = true;
      rmSync(path, { force: true });
      await cut();
      rmSync(join(dataDir, "run.lock"), { force: true });
    },
  };
}

/**
 * Stops what is listed for a data folder, in order of rank, and after that the processes that the platform manages
 * there for its user (`processes/*.json`).
 *
 * @param options.of whose list it must be; any that is there when left out
 * @param options.leftOver told the names of those that run, where there are any
 */
export async function stopLeftovers(
  dataDir: string,
  { of, leftOver }: {
    readonly of?: ProcessId;
    readonly leftOver?: ((names: readonly string[]) => void) | undefined;
  } = {},
): Promise<void> {
  const path = join(dataDir, "run.json");
  const list = readJson(path) as RunFile | undefined;
  if (of && list?.supervisor?.pid !== of.pid) return;
  // Start times count from the boot: those of another boot say nothing.
  const known = list?.boot === bootId() ? list.processes : [];
  const running = known.filter(isRunning);
  if (running.length > 0) leftOver?.(running.map(({ name }) => name));
  await stopAll(dataDir, known);
  if (!of) rmSync(path, { force: true });
}

async function stopAll(dataDir: string, processes: readonly TreeProcess[]): Promise<void> {
  for (const rank of [1, 2, 3] as const) {
    const together = processes.filter((watched) => watched.rank === rank)
      .map((watched) => stopProcess(watched, watched.signal, GRACE_MS[rank]));
    await Promise.all(rank === 2 ? [...together, ...stopManaged(dataDir)] : together);
  }
}

/** Stops the processes that the platform runs for its user: `processes/<name>.json`, each with `pid` and `start_time`. */
function stopManaged(dataDir: string): Promise<unknown>[] {
  const folder = join(dataDir, "processes");
  return list(folder).filter((name) => name.endsWith(".json")).map((name) => {
    const { pid, start_time } = (readJson(join(folder, name)) ?? {}) as Partial<ProcessId>;
    if (!Number.isInteger(pid) || start_time === undefined) return Promise.resolve();
    return stopProcess({ pid: pid!, start_time: String(start_time) }, "SIGTERM", GRACE_MS[2]);
  });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function makeFolder(dataDir: string): void {
  try {
    // Others may pass through, as PostgreSQL's own user must, but not look around.
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
    const probe = join(dataDir, `.writable-${process.pid}`);
    writeFileSync(probe, "");
    rmSync(probe);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EmbeddedError(`Cannot write to the data folder ${dataDir}: ${reason(code)}`);
  }
}

/** What a code of the system means for somebody who chose a data folder. */
function reason(code = "unknown error"): string {
  const known: Record<string, string> = {
    EACCES: "permission is missing. Change its owner, or set SEALOOP_DATA to a folder of yours",
    EPERM: "permission is missing. Change its owner, or set SEALOOP_DATA to a folder of yours",
    EROFS: "the file system is read-only. Set SEALOOP_DATA to a folder elsewhere",
    ENOTDIR: "a part of that path is a file. Set SEALOOP_DATA to a folder",
    EEXIST: "it is a file. Set SEALOOP_DATA to a folder",
    ENOENT: "no folder can be made there. Set SEALOOP_DATA to a folder elsewhere",
    ENOSPC: "the disk is full. Free some space, or set SEALOOP_DATA to a folder elsewhere",
    EDQUOT: "the disk quota is used up. Free some space, or set SEALOOP_DATA to a folder elsewhere",
  };
  return known[code] ?? code;
}

type Owner = ProcessId & { readonly boot: string };

/** Takes `run.lock`, which is made whole under another name first: a half-written one can't be seen. */
function lock(dataDir: string, self: ProcessId): void {
  const path = join(dataDir, "run.lock");
  const mine = `${path}.${self.pid}`;
  const content: Owner = { ...self, boot: bootId() };
  writeFileSync(mine, JSON.stringify(content), { mode: 0o600 });
  try {
    while (!link(mine, path)) {
      const holder = readJson(path) as Owner | undefined;
      if (holder && isHeld(holder)) throw inUse(dataDir, holder);
      takeAway(path, `${mine}.stale`);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

const isHeld = (holder: Owner) => holder.boot === bootId() && isRunning(holder);

const inUse = (dataDir: string, { pid }: Owner) =>
  new EmbeddedError(
    `Another sealoop (pid ${pid}) runs on the data in ${dataDir}. ` +
      "Stop that one, or set SEALOOP_DATA to another folder",
  );

/** @returns false where there is such a file already */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a stale lock. If it was taken anew at that very moment, puts it back. */
function takeAway(path: string, aside: string): void {
  try {
    renameSync(path, aside);
  } catch {
    return; // somebody else has just done so
  }
  const moved = readJson(aside) as Owner | undefined;
  if (moved && isHeld(moved)) link(aside, path);
  rmSync(aside, { force: true });
}

/** @returns what ends the lifeline, when there is nothing left for it to do */
function startLifeline(dataDir: string, self: ProcessId): () => Promise<void> {
  const program = programPath("embedded/_lifeline_program.ts");
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

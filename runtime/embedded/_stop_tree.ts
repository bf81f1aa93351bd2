import { rmSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "./_data_folder.ts";
import {
  isManagedRunning,
  listManagedRecords,
  managedPath,
  writeManagedRecord,
} from "./managed_record.ts";
import { bootId, isRunning, type ProcessId, stopProcess } from "./process_id.ts";

/** Rank of a process. Lower ranks are stopped first: 1 clients, 2 Temporal, 3 PostgreSQL. */
export type Rank = 1 | 2 | 3;

/** A process that must not outlive the one that started it. */
export interface TreeProcess extends ProcessId {
  readonly name: string;
  /** Signal that asks it to end. */
  readonly signal: NodeJS.Signals;
  readonly rank: Rank;
}

/** Content of `run.json`: the tree that runs on a data folder. */
export interface RunFile {
  readonly boot: string;
  readonly supervisor: ProcessId;
  readonly processes: readonly TreeProcess[];
  /** Settings by which others on this machine reach what runs; absent where nothing can be reached. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Time that processes of each rank have to end before they are killed; 15 s in all. */
const GRACE_MS: Readonly<Record<Rank, number>> = { 1: 8_500, 2: 3_500, 3: 3_000 };

/** Returns the path of a data folder's `run.json`. */
export function runFilePath(dataDir: string): string {
  return join(dataDir, "run.json");
}

/**
 * Stops the processes of `run.json` in order of rank, and of those that the platform manages for its user, the ones that
 * are to be stopped with it.
 *
 * @param options.of supervisor whose tree it must be; default: any
 * @param options.onLeftovers called with the names of those that are running, where there are any
 */
export async function stopLeftovers(
  dataDir: string,
  { of, onLeftovers }: {
    readonly of?: ProcessId;
    readonly onLeftovers?: ((names: readonly string[]) => void) | undefined;
  } = {},
): Promise<void> {
  const path = runFilePath(dataDir);
  const list = readJson(path) as RunFile | undefined;
  if (of && list?.supervisor?.pid !== of.pid) return;
  // Start times count from the boot, so those of another boot mean nothing.
  const known = list?.boot === bootId() ? list.processes : [];
  const running = known.filter(isRunning);
  if (running.length > 0) onLeftovers?.(running.map(({ name }) => name));
  await stopTree(dataDir, known);
  if (!of) rmSync(path, { force: true });
}

/** Stops these processes in order of rank, and the managed ones that are to be stopped with the platform. */
export async function stopTree(dataDir: string, processes: readonly TreeProcess[]): Promise<void> {
  for (const rank of [1, 2, 3] as const) {
    const ofRank = processes.filter((one) => one.rank === rank)
      .map((one) => stopProcess(one, one.signal, GRACE_MS[rank]));
    await Promise.all(rank === 2 ? [...ofRank, ...stopManaged(dataDir)] : ofRank);
  }
}

/** Stops the processes that the platform manages for its user and is to stop with itself, and records that it did. */
function stopManaged(dataDir: string): Promise<unknown>[] {
  return listManagedRecords(dataDir)
    .filter((record) => record.on_stop === "stop" && isManagedRunning(record))
    .map((record) => {
      try {
        writeManagedRecord(managedPath(dataDir, record.name), { ...record, stopped: "sealoop" });
      } catch {
        // The disk is full, say. It is stopped nevertheless.
      }
      return stopProcess(record, "SIGTERM", GRACE_MS[2]);
    });
}

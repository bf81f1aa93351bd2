import { type FSWatcher, mkdirSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import {
  isManagedRunning,
  listManagedRecords,
  managedFolder,
  managedPath,
  type ManagedRecord,
  type OnStop,
  readManagedRecord,
  stopProcess,
  writeManagedRecord,
} from "../../runtime/embedded/mod.ts";
import { pathBelow } from "../files/mod.ts";
import { createEndMark, readMarks } from "./_launch.ts";

/** Between asking a process to end and killing it. */
const STOP_TIMEOUT_MS = 3_000;

/** Returns the process that the platform runs for a service; undefined: it does not run. */
export function findManagedProcess(dataDir: string, service: string): ManagedRecord | undefined {
  const known = lastManagedProcess(dataDir, service);
  return known && isManagedRunning(known) ? known : undefined;
}

/** Returns the process that the platform has started last for a service, whether or not it runs; undefined: none. */
export function lastManagedProcess(dataDir: string, service: string): ManagedRecord | undefined {
  return readManagedRecord(managedPath(dataDir, service));
}

/** Records which process the platform runs for a service. */
export function recordManagedProcess(dataDir: string, record: ManagedRecord): void {
  writeManagedRecord(managedPath(dataDir, record.name), record);
}

/** Records what is to become of the process of a service when the platform is stopped. */
export function setOnStop(dataDir: string, service: string, onStop: OnStop): void {
  const known = lastManagedProcess(dataDir, service);
  if (!known || known.on_stop === onStop) return;
  recordManagedProcess(dataDir, { ...known, on_stop: onStop });
}

/**
 * Stops the process that the platform runs for a service, if it runs. Another process that has its number by now is left
 * alone.
 *
 * @param unless effect id: the process that this act started is left alone
 */
export async function stopManagedProcess(
  dataDir: string,
  service: string,
  unless?: string,
): Promise<void> {
  const known = lastManagedProcess(dataDir, service);
  if (!known || known.effect_id === unless) return;
  if (isManagedRunning(known)) {
    recordManagedProcess(dataDir, { ...known, stopped: "act" }); // its end is no fault
    await stopProcess(known, "SIGTERM", STOP_TIMEOUT_MS);
  }
  if (lastManagedProcess(dataDir, service)?.effect_id === known.effect_id) {
    rmSync(managedPath(dataDir, service), { force: true });
  }
}

/**
 * Lists the processes to bring back: those that the platform has stopped together with itself, and those that ended together
 * with the machine, or the container, so that nobody saw their end. One that has ended by itself is a fault.
 */
export function listLostProcesses(dataDir: string): ManagedRecord[] {
  return listManagedRecords(dataDir).filter((record) => {
    if (isManagedRunning(record) || record.stopped === "act") return false;
    return record.stopped === "sealoop" ||
      readMarks(marksOf(dataDir, record.effect_id)).ended === undefined;
  });
}

/**
 * Calls back once for each process that the platform runs for a service and that ends by itself; at once also for those that
 * have ended before. It hears of an end from the system, by the mark that it leaves.
 *
 * @param onTrouble is told of what can't be watched, such as more files than the system allows
 * @returns ends the watch
 */
export function watchManagedProcesses(
  dataDir: string,
  { onEnd, onTrouble }: {
    readonly onEnd: (record: ManagedRecord) => void;
    readonly onTrouble: (error: Error) => void;
  },
): () => void {
  const watchers = new Map<string, FSWatcher>();
  const ended = new Set<string>();

  /** @param path names what to watch, once it is there */
  function follow(path: () => string, onChange: () => void): FSWatcher | undefined {
    try {
      return watch(path(), onChange).on("error", onTrouble);
    } catch (error) {
      onTrouble(error as Error);
      return undefined;
    }
  }

  function lookAt({ name, effect_id }: ManagedRecord): void {
    const marks = marksOf(dataDir, effect_id);
    if (ended.has(effect_id) || readMarks(marks).ended === undefined) return;
    ended.add(effect_id);
    leave(effect_id);
    const known = lastManagedProcess(dataDir, name);
    if (known?.effect_id === effect_id && known.stopped === undefined) onEnd(known);
  }

  /** Its output is in the same folder, so the mark itself is watched. */
  function followEnd(record: ManagedRecord): void {
    const { effect_id } = record;
    if (ended.has(effect_id) || watchers.has(effect_id)) return;
    const mark = () => createEndMark(marksOf(dataDir, effect_id));
    const watcher = follow(mark, () => lookAt(record));
    if (watcher) watchers.set(effect_id, watcher);
  }

  function leave(effectId: string): void {
    watchers.get(effectId)?.close();
    watchers.delete(effectId);
  }

  /** Follows the processes that there are now. */
  function update(): void {
    const records = listManagedRecords(dataDir);
    const current = new Set(records.map(({ effect_id }) => effect_id));
    for (const effectId of watchers.keys()) if (!current.has(effectId)) leave(effectId);
    for (const effectId of ended) if (!current.has(effectId)) ended.delete(effectId);
    for (const record of records) {
      followEnd(record);
      lookAt(record); // it may have ended before it was followed
    }
  }

  mkdirSync(managedFolder(dataDir), { recursive: true, mode: 0o700 });
  const folder = follow(() => managedFolder(dataDir), update);
  update();
  return () => {
    folder?.close();
    for (const effectId of [...watchers.keys()]) leave(effectId);
  };
}

function marksOf(dataDir: string, effectId: string): string {
  return pathBelow(join(dataDir, "effects"), effectId);
}

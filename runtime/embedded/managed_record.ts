/** The records of the processes that the platform runs for its user: `processes/<name>.json` of the data folder. */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJson } from "./_data_folder.ts";
import { bootId, isRunning, type ProcessId } from "./process_id.ts";

/** Fate of a process when the platform is stopped: it is left running, or stopped and brought back at the start. */
export type OnStop = "keep" | "stop";

/** A process that the platform runs for a service. */
export interface ManagedRecord extends ProcessId {
  /** Name of the service. */
  readonly name: string;
  /** The act that started it. */
  readonly effect_id: string;
  /** Absent: `keep`. */
  readonly on_stop?: OnStop;
  /** Boot of the machine that it was started in. */
  readonly boot?: string;
  /** Cause of its stop, past or coming: an act of the platform, or the platform's own stop. Absent: there is none. */
  readonly stopped?: "act" | "sealoop";
}

/** Lists the records of a data folder. */
export function listManagedRecords(dataDir: string): ManagedRecord[] {
  const folder = managedFolder(dataDir);
  return listFiles(folder).filter((name) => name.endsWith(".json"))
    .map((name) => readManagedRecord(join(folder, name)))
    .filter((record) => record !== undefined);
}

/** Returns the path of the record of a service. */
export function managedPath(dataDir: string, service: string): string {
  return join(managedFolder(dataDir), `${encodeURIComponent(service)}.json`);
}

/** Returns the folder of the records. */
export function managedFolder(dataDir: string): string {
  return join(dataDir, "processes");
}

/** Reads a record; undefined: there is none. */
export function readManagedRecord(path: string): ManagedRecord | undefined {
  const record = readJson(path) as Partial<ManagedRecord> | undefined;
  const { name, pid, start_time, effect_id } = record ?? {};
  const isWhole = Number.isInteger(pid) && [name, start_time, effect_id].every(isText);
  return isWhole ? record as ManagedRecord : undefined;
}

/** Writes a record, all of it or nothing. */
export function writeManagedRecord(path: string, record: ManagedRecord): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, JSON.stringify(record));
  renameSync(next, path);
}

/** Returns whether the process of a record runs. */
export function isManagedRunning(record: ManagedRecord): boolean {
  return (record.boot ?? bootId()) === bootId() && isRunning(record);
}

const isText = (value: unknown) => typeof value === "string";

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

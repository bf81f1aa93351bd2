import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessId, stopProcess } from "../../runtime/embedded/mod.ts";
import { pathBelow } from "../files/mod.ts";

/** A process that the platform runs for its user, as `processes/<name>.json` of the data folder records it. */
export interface ManagedRecord extends ProcessId {
  readonly name: string;
  /** The act that started it. */
  readonly effect_id: string;
}

/** Between asking a process to end and killing it. */
const STOP_TIMEOUT_MS = 3_000;

/** Returns the process that the platform runs for a service; undefined: it does not run. */
export function findManagedProcess(dataDir: string, service: string): ManagedRecord | undefined {
  const known = readRecord(recordPath(dataDir, service));
  return known && isRunning(known) ? known : undefined;
}

/** Returns the process that the platform has started last for a service, whether or not it runs; undefined: none. */
export function lastManagedProcess(dataDir: string, service: string): ManagedRecord | undefined {
  return readRecord(recordPath(dataDir, service));
}

/** Records which process the platform runs for a service. */
export function recordManagedProcess(dataDir: string, record: ManagedRecord): void {
  const path = recordPath(dataDir, record.name);
  mkdirSync(join(dataDir, "processes"), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, JSON.stringify(record));
  renameSync(`${path}.new`, path);
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
  const path = recordPath(dataDir, service);
  const known = readRecord(path);
  if (!known || known.effect_id === unless) return;
  await stopProcess(known, "SIGTERM", STOP_TIMEOUT_MS);
  if (readRecord(path)?.effect_id === known.effect_id) rmSync(path, { force: true });
}

function recordPath(dataDir: string, service: string): string {
  return pathBelow(join(dataDir, "processes"), `${encodeURIComponent(service)}.json`);
}

function readRecord(path: string): ManagedRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

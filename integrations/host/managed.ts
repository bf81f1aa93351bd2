import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessId, stopProcess } from "../../embedded/mod.ts";

/** A process that the platform runs for its user, as `processes/<name>.json` of the data folder tells of it. */
export interface ManagedRecord extends ProcessId {
  readonly name: string;
  /** The restart that started it. */
  readonly effect_id: string;
}

/** Between asking a process to end and ending it, milliseconds. */
const STOP_MS = 3_000;

/** The process that the platform runs for a service, if it runs. */
export function findManagedProcess(dataDir: string, service: string): ManagedRecord | undefined {
  const known = read(pathOf(dataDir, service));
  return known && isRunning(known) ? known : undefined;
}

/** Writes down which process it is that the platform runs for a service. */
export function recordManagedProcess(dataDir: string, record: ManagedRecord): void {
  const path = pathOf(dataDir, record.name);
  mkdirSync(join(dataDir, "processes"), { recursive: true });
  writeFileSync(`${path}.new`, JSON.stringify(record));
  renameSync(`${path}.new`, path);
}

/**
 * Stops the process that the platform runs for a service, if it runs: the very one, not whatever has its number now.
 *
 * @param unless effect id: the process that this restart started is left alone
 */
export async function stopManagedProcess(
  dataDir: string,
  service: string,
  unless?: string,
): Promise<void> {
  const path = pathOf(dataDir, service);
  const known = read(path);
  if (!known || known.effect_id === unless) return;
  await stopProcess(known, "SIGTERM", STOP_MS);
  if (read(path)?.effect_id === known.effect_id) rmSync(path, { force: true });
}

const pathOf = (dataDir: string, service: string) =>
  join(dataDir, "processes", `${encodeURIComponent(service)}.json`);

function read(path: string): ManagedRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

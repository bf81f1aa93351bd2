import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Identity of a process. A later process with the same number has another. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, in the system's format: clock ticks since boot on Linux, else the text of `ps`. */
  readonly start_time: string;
}

const LINUX = process.platform === "linux";
const POLL_MS = 25;

/** Returns the identity of a running process; undefined: there is none, or it is a zombie. */
export function identifyProcess(pid: number): ProcessId | undefined {
  const start_time = LINUX ? readStartTime(pid) : readPsField(pid, "lstart");
  return start_time ? { pid, start_time } : undefined;
}

/** Returns whether this very process is still running. */
export function isRunning(id: ProcessId): boolean {
  return identifyProcess(id.pid)?.start_time === id.start_time;
}

/** Returns the arguments of a process, the program first; empty where they are not visible. */
export function commandLine(pid: number): string[] {
  if (!LINUX) return readPsField(pid, "args")?.split(" ") ?? [];
  return tryRead(`/proc/${pid}/cmdline`)?.split("\0").slice(0, -1) ?? [];
}

/** Returns the process id of the parent of a process. */
export function parentOf(pid: number): number | undefined {
  const parent = LINUX ? readStatFields(pid)?.[1] : readPsField(pid, "ppid");
  return parent ? Number(parent) : undefined;
}

/** Returns the id of this boot of the machine, from which start times count; empty where the system has none. */
export function bootId(): string {
  return tryRead("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/**
 * Stops a process, which need not be a child: sends a signal, waits, and then kills it.
 *
 * @param graceMs between the signal and killing it, ≥ 0
 * @returns false where it was not running any more
 */
export async function stopProcess(
  id: ProcessId,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<boolean> {
  if (!isRunning(id)) return false;
  signalProcess(id, signal);
  const deadline = Date.now() + graceMs;
  while (isRunning(id)) {
    if (Date.now() > deadline) signalProcess(id, "SIGKILL");
    await sleep(POLL_MS);
  }
  return true;
}

/** Sends a signal to a process, if this very one is running. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals): void {
  try {
    if (isRunning(id)) process.kill(id.pid, signal);
  } catch {
    // It ended in between.
  }
}

function readStartTime(pid: number): string | undefined {
  const fields = readStatFields(pid);
  // A zombie has ended, even if its parent does not collect it.
  return fields?.[0] === "Z" || fields?.[0] === "X" ? undefined : fields?.[19];
}

/** Reads the fields of `/proc/<pid>/stat` from the state on. The name before may contain anything. @see proc(5) */
function readStatFields(pid: number): string[] | undefined {
  const text = tryRead(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function readPsField(pid: number, field: string): string | undefined {
  try {
    const text = execFileSync("ps", ["-o", `${field}=`, "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that can't be mistaken for a later one which was given the same number. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, as the system says it: clock ticks since boot on Linux, else `ps`'s words. */
  readonly start_time: string;
}

const LINUX = process.platform === "linux";
const POLL_MS = 25;

/** The identity of a running process; undefined where there is none, or only the remains of one. */
export function identifyProcess(pid: number): ProcessId | undefined {
  const start_time = LINUX ? linuxStart(pid) : psField(pid, "lstart");
  return start_time ? { pid, start_time } : undefined;
}

/** Whether this very process is still running. */
export function isRunning(id: ProcessId): boolean {
  return identifyProcess(id.pid)?.start_time === id.start_time;
}

/** Arguments that a process was started with, the program first; empty where they can't be seen. */
export function commandLine(pid: number): string[] {
  if (!LINUX) return psField(pid, "args")?.split(" ") ?? [];
  return tryRead(`/proc/${pid}/cmdline`)?.split("\0").slice(0, -1) ?? [];
}

/** The parent of a process. */
export function parentOf(pid: number): number | undefined {
  const parent = LINUX ? statFields(pid)?.[1] : psField(pid, "ppid");
  return parent ? Number(parent) : undefined;
}

/** Names this boot of the machine, where the system tells boots apart; start times count from it. */
export function bootId(): string {
  return tryRead("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/**
 * Ends a process that need not be a child: asks, waits, and after that ends it by force.
 *
 * @param graceMs milliseconds between asking and force, ≥ 0
 * @returns false where it was not running any more
 */
export async function stopProcess(
  id: ProcessId,
  ask: NodeJS.Signals,
  graceMs: number,
): Promise<boolean> {
  if (!isRunning(id)) return false;
  signal(id, ask);
  const deadline = Date.now() + graceMs;
  while (isRunning(id)) {
    if (Date.now() > deadline) signal(id, "SIGKILL");
    await sleep(POLL_MS);
  }
  return true;
}

/** Sends a signal, if this very process is there to take it. */
export function signal(id: ProcessId, name: NodeJS.Signals): void {
  try {
    if (isRunning(id)) process.kill(id.pid, name);
  } catch {
    // It ended in between, which is what was wanted.
  }
}

function linuxStart(pid: number): string | undefined {
  const fields = statFields(pid);
  // A zombie has ended; nobody may be there to collect it.
  return fields?.[0] === "Z" || fields?.[0] === "X" ? undefined : fields?.[19];
}

/** Fields of `/proc/<pid>/stat` from the state on; the name before it may hold anything. @see proc(5) */
function statFields(pid: number): string[] | undefined {
  const text = tryRead(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function psField(pid: number, field: string): string | undefined {
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

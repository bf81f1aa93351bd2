import { readFileSync } from "node:fs";
import {
  commandLine,
  identifyProcess,
  listManagedRecords,
  parentOf,
  type ProcessId,
  stopProcess,
} from "../../runtime/embedded/mod.ts";
import { effectOfProcess, wasLaunched } from "./_launch.ts";
import { redactLine } from "./_log_secrets.ts";
import { findListener } from "./sockets.ts";

/** The process that holds a port. */
export interface PortHolder extends ProcessId {
  /** Name of its program. */
  readonly program: string;
  /** Its command line, without secrets. */
  readonly command: string;
  /** When it was started, ISO 8601. */
  readonly since: string;
  /**
   * `leftover`: the platform has started it, and it is not the one that runs for a service now; `service`: it runs for one
   * now, or was started by it; `other`: somebody else has started it.
   */
  readonly startedBy: "leftover" | "service" | "other";
  /** The service that it runs for. */
  readonly service?: string;
}

/** Result of {@linkcode stopHolders}. */
export type StopResult = "stopped" | "permission" | "not_gone";

/** Ticks of a second in `/proc`: USER_HZ is 100 on all of Linux. */
const TICKS = 100;
/** Between asking a process to end and killing it. */
const GRACE_MS = 5_000;
const MAX_HOLDERS = 32;
const MAX_COMMAND = 200;

/**
 * Returns the process that holds a port of this host; undefined: nobody listens there, or who does is not visible.
 *
 * @param dataDir of the platform, whose own processes are told from others
 */
export async function findPortHolder(
  dataDir: string,
  port: number,
): Promise<PortHolder | undefined> {
  const listener = await findListener(port);
  const id = listener?.pid === undefined ? undefined : identifyProcess(listener.pid);
  if (!listener || !id) return undefined;
  return {
    ...id,
    program: listener.program ?? "a program",
    command: redactLine(commandLine(id.pid).join(" ")).slice(0, MAX_COMMAND),
    since: startedAt(id),
    ...findStarter(dataDir, id.pid),
  };
}

/** Describes who holds a port, for people: program, process, command and since when. */
export function describeHolder({ program, pid, command, since }: PortHolder): string {
  return `${program} (process ${pid}, \`${command}\`, since ${since})`;
}

/**
 * Stops the process that holds a port, and then those of the same effect or program that hold it as well, such as workers
 * that share its socket. Repeated after a crash, it goes on.
 */
export async function stopHolders(
  dataDir: string,
  port: number,
  first: PortHolder,
): Promise<StopResult> {
  const effect = effectOfProcess(first.pid);
  let next: PortHolder | undefined = first;
  for (let count = 0; next && count < MAX_HOLDERS; count++) {
    if (!maySignal(next.pid)) return "permission";
    await stopProcess(next, "SIGTERM", GRACE_MS);
    next = await findPortHolder(dataDir, port);
    const isSame = effect === undefined
      ? next?.startedBy === "other" && next.program === first.program
      : next && effectOfProcess(next.pid) === effect;
    if (next && !isSame) return "not_gone";
  }
  return next ? "not_gone" : "stopped";
}

/** Returns when a process was started. It is the same at each look. @see proc_pid_stat(5), proc_stat(5) */
function startedAt({ start_time }: ProcessId): string {
  if (process.platform !== "linux") return start_time;
  const boot = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1] ?? 0);
  const at = new Date(1_000 * (boot + Math.floor(Number(start_time) / TICKS)));
  return at.toISOString().replace(".000Z", "Z");
}

/** Finds who has started a process: its own variables say so, or those of a process that it comes from. */
function findStarter(
  dataDir: string,
  pid: number,
): Pick<PortHolder, "startedBy" | "service"> {
  const current = listManagedRecords(dataDir);
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = parentOf(at)) {
    const running = current.find((one) => one.pid === at && identifyProcess(at) !== undefined);
    if (running) return { startedBy: "service", service: running.name };
  }
  const effect = effectOfProcess(pid);
  if (effect === undefined || !wasLaunched(dataDir, effect)) return { startedBy: "other" };
  const of = current.find(({ effect_id, ...id }) =>
    effect_id === effect && identifyProcess(id.pid)?.start_time === id.start_time
  );
  return of ? { startedBy: "service", service: of.name } : { startedBy: "leftover" };
}

function maySignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess } from "../../embedded/mod.ts";
import { startShell } from "./_shell.ts";

/** What is launched: a program, where, and what it is told besides PATH and HOME. */
export interface Launch {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What a command that is `run` may take. */
  readonly limits?: Limits;
}

/** Most that a command may take; the system ends it, or refuses it more, beyond. */
export interface Limits {
  /** Seconds of processor time. */
  readonly cpu?: number;
  /** Bytes of address space. */
  readonly memory?: number;
  /** Bytes of a file that it writes. */
  readonly fileSize?: number;
}

/** A launch of this process. */
export interface Launched {
  /** Its process has ended, or could not begin. */
  readonly end: Promise<void>;
}

/** Marks that a launch leaves in its folder, as far as they are there. */
export interface Marks {
  /** Number of the process; 0 where it began but did not come to write its number. Absent: it never began. */
  readonly started?: number;
  /** Exit code of a command; absent while it runs, and for ever if it was killed together with what ran it. */
  readonly exit?: number;
}

const EFFECT = "SEALOOP_EFFECT";
const STARTED_WITHIN_MS = 3_000;
const BECOMES_WITHIN_MS = 500;
const POLL_MS = 5;

/** The mark can be made once: of two launches of the same act, the second ends here. */
const CLAIM = 'set -C; { echo $$ > "$SEALOOP_MARKS/started"; } 2>/dev/null || exit 75; set +C; ';
const BECOME = `${CLAIM}exec "$@"`;
const LEAVE_EXIT = 'echo $? > "$SEALOOP_MARKS/exit"';
const RUN = `${CLAIM}"$@"; ${LEAVE_EXIT}`;

/**
 * Starts a program, at most once for a folder of marks, detached from this process: it goes on when this one is killed.
 * Gives when it has begun, or has failed to.
 *
 * @param how `become`: the marked process is the program; `run`: a shell waits for it and leaves its exit code
 */
export async function launch(
  { command, cwd, env, limits }: Launch,
  { effectId, marks, how }: { effectId: string; marks: string; how: "become" | "run" },
): Promise<Launched> {
  mkdirSync(marks, { recursive: true });
  const script = how === "become" ? BECOME : limits ? runWithin(limits) : RUN;
  const { PATH, HOME } = process.env;
  const shell = startShell({
    args: ["-c", script, "sh", ...command],
    cwd,
    env: { PATH, HOME, ...env, [EFFECT]: effectId, SEALOOP_MARKS: marks },
    log: join(marks, "log"),
  });
  let ended = false;
  const end = shell.then(() => {
    ended = true;
  });
  const began = Date.now();
  while (!readMarks(marks).started && !ended && Date.now() - began < STARTED_WITHIN_MS) {
    await Promise.race([end, sleep(POLL_MS)]);
  }
  return { end };
}

/** Units are those of POSIX shells: seconds, KiB, and blocks of 512 bytes. */
function runWithin({ cpu, memory, fileSize }: Limits): string {
  const set = [
    "ulimit -c 0",
    ...cpu === undefined ? [] : [`ulimit -t ${Math.ceil(cpu)}`],
    ...memory === undefined ? [] : [`ulimit -v ${Math.ceil(memory / 1_024)}`],
    ...fileSize === undefined ? [] : [`ulimit -f ${Math.ceil(fileSize / 512)}`],
  ].join(" && ");
  return `${CLAIM}( ${set} && exec "$@" ); ${LEAVE_EXIT}`;
}

/** Reads what a launch has left so far. */
export function readMarks(marks: string): Marks {
  const [started, exit] = ["started", "exit"].map((name) => readLine(join(marks, name)));
  return { started: started === "" ? 0 : toNumber(started), exit: toNumber(exit || undefined) };
}

/** A process that was launched but was stopped before it left its mark. Only where the system shows environments. */
export function findLaunched(effectId: string): number | undefined {
  if (!existsSync("/proc/self/environ")) return undefined;
  return readdirSync("/proc").map(Number).find((pid) => pid > 0 && belongsToEffect(pid, effectId));
}

/** Whether a process runs and belongs to the act. Where the system hides environments, running is all we see. */
export function belongsToEffect(pid: number, effectId: string): boolean {
  if (pid === 0 || !identifyProcess(pid)) return false;
  if (!existsSync("/proc/self/environ")) return true;
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return environment.includes(`${EFFECT}=${effectId}`);
  } catch {
    return false;
  }
}

/** The same of a process that may be becoming another program, while which it shows no environment for a moment. */
export async function becameOf(pid: number, effectId: string): Promise<boolean> {
  const deadline = Date.now() + BECOMES_WITHIN_MS;
  while (true) {
    if (belongsToEffect(pid, effectId)) return true;
    if (!identifyProcess(pid) || Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
}

const toNumber = (line: string | undefined) => line === undefined ? undefined : Number(line);

/** A line that was written to its end; empty where it was not. Undefined where there is no file. */
function readLine(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return text.endsWith("\n") ? text.trim() : "";
  } catch {
    return undefined;
  }
}

import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, type OnStop } from "../../runtime/embedded/mod.ts";
import { pathBelow } from "../files/mod.ts";
import { minimalEnvironment } from "./_environment.ts";
import { startShell } from "./_shell.ts";

/** A program to launch. */
export interface Launch {
  readonly command: readonly string[];
  readonly cwd?: string;
  /** Variables besides those that all commands get. */
  readonly env?: Readonly<Record<string, string>>;
  /** Fate of the process when the platform is stopped; default: it is left running. */
  readonly on_stop?: OnStop;
  /** Limits of a command that is `run`. */
  readonly limits?: Limits;
}

/** Limits of a command. Beyond them the system ends it, or refuses it more. */
export interface Limits {
  /** Seconds of processor time. */
  readonly cpu?: number;
  /** Bytes of address space. */
  readonly memory?: number;
  /** Bytes of a file that it writes. */
  readonly fileSize?: number;
}

/** A launched program. */
export interface Launched {
  /** Settles when its process has ended, or could not begin. */
  readonly end: Promise<void>;
}

/** Marks that a launch leaves in its folder, as far as they are there. */
export interface Marks {
  /** Process id; 0 where it began but could not write its id. Absent: it never began. */
  readonly started?: number;
  /** Exit code of a command; absent while it runs, and forever if it was killed together with its shell. */
  readonly exit?: number;
  /** How a program ended that took the place of its shell: `exit_1`, `sigkill`. Absent: it runs, or nobody saw its end. */
  readonly ended?: string;
}

/** Variable by which a process is recognized as that of an effect. The commands themselves don't get it. */
const EFFECT = "SEALOOP_EFFECT";
/** On a busy machine a shell begins late. What is found not to have begun must not begin any more. */
const START_TIMEOUT_MS = 30_000;
const EXEC_TIMEOUT_MS = 500;
const POLL_MS = 5;

/** `set -C` creates the mark exclusively: of two launches of the same effect, the second ends here. */
const CLAIM = 'set -C; { echo $$ > "$SEALOOP_MARKS/started"; } 2>/dev/null || exit 75; set +C; ';
/** The program takes the place of the shell, and keeps the variable that identifies it. */
const BECOME = `${CLAIM}unset SEALOOP_MARKS; exec "$@"`;
/** The shell stays, and carries the variable. */
const RUN = `${CLAIM}marks=$SEALOOP_MARKS; unset SEALOOP_MARKS ${EFFECT}; `;
const LEAVE_EXIT = 'echo $? > "$marks/exit"';

/**
 * Starts a program, at most once for a folder of marks. It is detached: it goes on when this process is killed. Resolves
 * when it has begun, or has failed to.
 *
 * @param how `become`: the marked process is the program; `run`: a shell waits for it and writes its exit code
 */
export async function launch(
  { command, cwd, env, limits }: Launch,
  { effectId, marks, how }: { effectId: string; marks: string; how: "become" | "run" },
): Promise<Launched> {
  mkdirSync(marks, { recursive: true, mode: 0o700 });
  const script = how === "become" ? BECOME : `${RUN}${runWithin(limits)}; ${LEAVE_EXIT}`;
  const shell = startShell({
    args: ["-c", script, "sh", ...command],
    cwd,
    env: { ...minimalEnvironment(), ...env, [EFFECT]: effectId, SEALOOP_MARKS: marks },
    log: join(marks, "log"),
    ...(how === "become" ? { endMark: endMarkPath(marks) } : {}),
  });
  let ended = false;
  const end = shell.then(() => {
    ended = true;
  });
  const began = Date.now();
  while (!readMarks(marks).started && !ended && Date.now() - began < START_TIMEOUT_MS) {
    await Promise.race([end, sleep(POLL_MS)]);
  }
  return { end };
}

/** Creates the mark of the end of a program, still empty, so that it can be watched. @returns its path */
export function createEndMark(marks: string): string {
  const path = endMarkPath(marks);
  appendFileSync(path, "");
  return path;
}

const endMarkPath = (marks: string) => join(marks, "ended");

/** Units are those of POSIX shells: seconds, KiB, and blocks of 512 bytes. */
function runWithin(limits: Limits | undefined): string {
  if (!limits) return '"$@"';
  const { cpu, memory, fileSize } = limits;
  const commands = ["ulimit -c 0"];
  if (cpu !== undefined) commands.push(`ulimit -t ${Math.ceil(cpu)}`);
  if (memory !== undefined) commands.push(`ulimit -v ${Math.ceil(memory / 1_024)}`);
  if (fileSize !== undefined) commands.push(`ulimit -f ${Math.ceil(fileSize / 512)}`);
  return `( ${commands.join(" && ")} && exec "$@" )`;
}

/** Reads the marks that a launch has left so far. */
export function readMarks(marks: string): Marks {
  const [started, exit, ended] = ["started", "exit", "ended"].map((name) =>
    readLine(join(marks, name))
  );
  return {
    started: started === "" ? 0 : toNumber(started),
    exit: toNumber(exit || undefined),
    ...(ended ? { ended } : {}),
  };
}

/** Finds a process that was launched but was stopped before it left its mark. Only where the system shows environments. */
export function findLaunched(effectId: string): number | undefined {
  if (!existsSync("/proc/self/environ")) return undefined;
  return readdirSync("/proc").map(Number).find((pid) => pid > 0 && belongsToEffect(pid, effectId));
}

/** Returns whether a process runs and belongs to an effect. Where the system hides environments, running is enough. */
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

/** Returns the effect that a process belongs to, as its variables say; undefined: to none, or they are not visible. */
export function effectOfProcess(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const [, effect] = /^SEALOOP_EFFECT=([0-9a-f]+)$/.exec(
      environment.find((one) => one.startsWith(`${EFFECT}=`)) ?? "",
    ) ?? [];
    return effect;
  } catch {
    return undefined;
  }
}

/** Returns whether an effect has started a program, as its marks in a data folder say. */
export function wasLaunched(dataDir: string, effectId: string): boolean {
  return existsSync(join(pathBelow(join(dataDir, "effects"), effectId), "started"));
}

/** The same for a process that may be executing another program, while which it shows no environment for a moment. */
export async function becameEffect(pid: number, effectId: string): Promise<boolean> {
  const deadline = Date.now() + EXEC_TIMEOUT_MS;
  while (true) {
    if (belongsToEffect(pid, effectId)) return true;
    if (!identifyProcess(pid) || Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
}

const toNumber = (line: string | undefined) => line === undefined ? undefined : Number(line);

/** Returns a line that was written to its end; empty where it was not; undefined where there is no file. */
function readLine(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return text.endsWith("\n") ? text.trim() : "";
  } catch {
    return undefined;
  }
}

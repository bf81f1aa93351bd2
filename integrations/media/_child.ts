import { spawn } from "node:child_process";
import { Problem } from "../../contract/mod.ts";
import { confinement } from "../strangers/mod.ts";

/** A program to run within limits. */
export interface ChildOrder {
  readonly program: string;
  readonly args: readonly string[];
  /** Folder that it runs in, and the only one that it is told of. */
  readonly cwd: string;
  /** Text of its standard input. */
  readonly input?: string;
  /** Longest time, seconds. */
  readonly seconds: number;
  /** Bytes of address space; absent: not limited, as engines reserve more than they use. */
  readonly memory?: number;
  /** Bytes of each file that it writes. */
  readonly fileSize: number;
  readonly signal?: AbortSignal;
}

/** Output of a program. */
export interface ChildOutput {
  readonly stdout: string;
  /** The end of what it said about its work. */
  readonly stderr: string;
}

/** A program has failed. */
export class ChildFailed extends Error {
  override readonly name = "ChildFailed";

  /** @param stderr the end of what it said */
  constructor(message: string, readonly stderr: string) {
    super(message);
  }
}

/** Signals by which the system ends a program at a limit of processor time, file size or the machine's memory. */
const LIMIT_SIGNALS: readonly unknown[] = ["SIGKILL", "SIGXCPU", "SIGXFSZ"];
const MAX_STDOUT_BYTES = 8 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
/** Units are those of POSIX shells: seconds, KiB, and blocks of 512 bytes. Processor time of several threads adds up. */
const LIMITED = 'ulimit -c 0; ulimit -t "$1"; ulimit -f "$2"; [ "$3" = 0 ] || ulimit -v "$3"; ' +
  'shift 3; exec "$@"';
/**
 * Runs a program to its end: with an empty environment, limits of time, memory and file size, the least priority, and no
 * network where the system can take it away from a process.
 *
 * @throws {ChildFailed} it failed
 * @throws {Problem} `TooLarge`: it took too long or reached a limit, as it would again
 */
export async function runChild(order: ChildOrder): Promise<ChildOutput> {
  const { program, args, cwd, input = "", seconds, memory = 0, fileSize, signal } = order;
  signal?.throwIfAborted();
  const limits = [seconds * 2, Math.ceil(fileSize / 512), Math.ceil(memory / 1024)].map(String);
  const command = [...confinement(), program, ...args];
  const child = spawn("/bin/sh", ["-c", LIMITED, "sh", ...limits, ...command], {
    cwd,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: cwd, TMPDIR: cwd, LANG: "C.UTF-8" },
    detached: true, // a group of its own, which is killed as a whole
    stdio: ["pipe", "pipe", "pipe"],
  });
  const kill = () => {
    try {
      if (child.pid) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, seconds * 1_000);
  signal?.addEventListener("abort", kill);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (stdout.length > MAX_STDOUT_BYTES) kill();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_BYTES);
  });
  child.stdin.on("error", () => {}); // it ended before it had read everything
  child.stdin.end(input);
  try {
    const code = await new Promise<number | string | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, killed) => resolve(code ?? killed));
    });
    signal?.throwIfAborted();
    const name = program.split("/").at(-1)!;
    if (isLate) {
      throw new Problem("TooLarge", `${name} was stopped after ${seconds} s: send less to make`);
    }
    if (LIMIT_SIGNALS.includes(code)) {
      const limits = "a limit of processor time, memory or file size";
      throw new Problem("TooLarge", `${name} was ended at ${limits}: send less to make`);
    }
    if (code !== 0) throw new ChildFailed(`${name} ended with ${code}`, stderr);
    return { stdout, stderr };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
  }
}

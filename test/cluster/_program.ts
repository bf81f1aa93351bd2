/** Programs of others that a test runs: each with a log of its own, and ended with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";

/** A running program. */
export interface Program {
  readonly process: ChildProcess;
  readonly isRunning: () => boolean;
  /** Returns the end of its log. */
  log(): string;
  /** Sends a signal, and waits for its end. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program. @param log path of the file that takes its output */
export function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  { log, cwd, env = {} }: {
    readonly log: string;
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
  },
): Program {
  const output = openSync(log, "a");
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", output, output],
  });
  const ended = once(child, "exit");
  ended.catch(() => {}); // isRunning() tells
  const isRunning = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    process: child,
    isRunning,
    log: () => readFileSync(log, "utf8").slice(-4_000),
    async end(signal = "SIGTERM") {
      if (!isRunning()) return;
      child.kill(signal);
      await ended;
    },
  };
}

import { type ChildProcess, fork, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

/** A shell that is to be started. */
export interface Shell {
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** All that it has. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File that takes what it writes. */
  readonly log: string;
}

/** A small process that starts shells for this one. */
interface Launcher {
  readonly process: ChildProcess;
  ready: boolean;
  /** Shells that have not ended. */
  readonly asked: Map<number, Asked>;
}

interface Asked {
  readonly shell: Shell;
  begun: boolean;
  ended(otherwise?: Promise<void>): void;
}

let launcher: Launcher | undefined;
let count = 0;

/**
 * Starts a shell, detached from this process: it goes on when this one is killed, and does not keep it from ending.
 *
 * This process does it itself until its launcher is ready, and when the launcher is lost before it has begun. So where
 * the launcher began but could not say so, the shell is started twice, and has to see to it itself that it acts once.
 *
 * @returns when it has ended, or could not begin; where the launcher is lost meanwhile, that moment
 */
export function startShell(shell: Shell): Promise<void> {
  launcher ??= openLauncher();
  return launcher.ready ? byLauncher(launcher, shell) : directly(shell);
}

function openLauncher(): Launcher {
  const child = fork(join(ROOT, "integrations", "_launcher.js"), {
    ...{ env: {}, execArgv: [] },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const opened: Launcher = { process: child, ready: false, asked: new Map() };
  const lost = () => {
    if (launcher === opened) launcher = undefined;
    for (const [nr, { shell, begun, ended }] of opened.asked) {
      opened.asked.delete(nr);
      ended(begun ? undefined : directly(shell));
    }
  };
  child.on("message", ({ nr, state }: { nr: number; state: "ready" | "begun" | "ended" }) => {
    const asked = opened.asked.get(nr);
    if (state === "ready") opened.ready = true;
    else if (state === "begun") asked!.begun = true;
    else {
      opened.asked.delete(nr);
      asked!.ended();
    }
  });
  child.once("exit", lost).once("error", lost);
  child.unref();
  child.channel!.unref();
  return opened;
}

function byLauncher({ process, asked }: Launcher, shell: Shell): Promise<void> {
  return new Promise((ended) => {
    const nr = ++count;
    asked.set(nr, { shell, begun: false, ended });
    process.send({ nr, ...shell });
  });
}

async function directly({ args, cwd, env, log }: Shell): Promise<void> {
  const file = openSync(log, "a");
  const child = spawn("/bin/sh", args, {
    ...{ cwd, env, detached: true },
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.unref();
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
}

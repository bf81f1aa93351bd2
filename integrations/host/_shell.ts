import { type ChildProcess, fork, spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

/** A shell to start. */
export interface Shell {
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** File that takes its output. */
  readonly log: string;
  /**
   * File that takes how it has ended: `exit_1`, `sigkill`. The launcher stays for that when this process ends. Where it is
   * lost, nobody sees the end, and the file takes nothing.
   */
  readonly endMark?: string;
}

/** A small process that starts shells for this one. */
interface Launcher {
  readonly process: ChildProcess;
  ready: boolean;
  /** Resolves when it is ready, or lost. */
  readonly opened: Promise<void>;
  /** Shells that have not ended, by number. */
  readonly requests: Map<number, LaunchRequest>;
}

interface LaunchRequest {
  readonly shell: Shell;
  begun: boolean;
  /** @param otherwise settles when the shell has ended, where the launcher did not start it */
  ended(otherwise?: Promise<void>): void;
}

let launcher: Launcher | undefined;
let count = 0;

/**
 * Starts a shell that is detached from this process: it goes on when this one is killed, and does not keep it from ending.
 *
 * This process starts it itself until its launcher is ready, and where the launcher is lost before it has begun. A shell
 * whose end is to be marked waits for the launcher. Where that began but could not say so, the shell is started twice and has
 * to make sure itself that it acts once.
 *
 * @returns settles when it has ended, could not begin, or its launcher was lost
 */
export async function startShell(shell: Shell): Promise<void> {
  launcher ??= openLauncher();
  if (shell.endMark !== undefined) await launcher.opened;
  return await (launcher?.ready ? startByLauncher(launcher, shell) : startDirectly(shell));
}

function openLauncher(): Launcher {
  const child = fork(join(ROOT, "integrations", "host", "_launcher.js"), {
    env: {},
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  let tellOpened!: () => void;
  const opening = new Promise<void>((resolve) => tellOpened = resolve);
  const opened: Launcher = { process: child, ready: false, opened: opening, requests: new Map() };
  const lost = () => {
    tellOpened();
    if (launcher === opened) launcher = undefined;
    for (const [nr, { shell, begun, ended }] of opened.requests) {
      opened.requests.delete(nr);
      ended(begun ? undefined : startDirectly(shell));
    }
  };
  child.on("message", ({ nr, state }: { nr: number; state: "ready" | "begun" | "ended" }) => {
    if (state === "ready") {
      opened.ready = true;
      tellOpened();
    }
    const request = opened.requests.get(nr);
    if (!request) return; // a last message may come after the launcher was lost
    if (state === "begun") request.begun = true;
    if (state === "ended") {
      opened.requests.delete(nr);
      request.ended();
    }
  });
  child.on("exit", lost).on("error", lost); // each message that can't be sent is an error
  child.unref();
  child.channel!.unref();
  return opened;
}

function startByLauncher({ process, requests }: Launcher, shell: Shell): Promise<void> {
  return new Promise((ended) => {
    const nr = ++count;
    requests.set(nr, { shell, begun: false, ended });
    process.send({ nr, ...shell });
  });
}

async function startDirectly({ args, cwd, env, log, endMark }: Shell): Promise<void> {
  const file = openSync(log, "a");
  const child = spawn("/bin/sh", args, {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.unref();
  await new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      try {
        if (endMark) writeFileSync(endMark, `${signal?.toLowerCase() ?? `exit_${code}`}\n`);
      } catch {
        // The folder is gone: nobody asks any more.
      }
      resolve();
    }).once("error", () => resolve());
  });
}

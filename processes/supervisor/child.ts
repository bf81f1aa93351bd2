import { type ChildProcess, fork } from "node:child_process";
import { closeSync } from "node:fs";
import {
  EmbeddedError,
  identifyProcess,
  logPath,
  openLog,
  readLastLines,
  type Tree,
} from "../../runtime/embedded/mod.ts";
import { placeId } from "../_presence.ts";
import { type Report, type StartMessage, SUPERVISED } from "../_process.ts";
import { restartDelays, STABLE_MS } from "./_restart_delays.ts";

/** A process of the platform that is restarted when it ends. */
export interface Child {
  /**
   * Lets the process start its work; until then it only loads.
   *
   * @returns URL that it serves, once it does; undefined if it serves none
   * @throws {EmbeddedError} it ended first, with the reason from its log
   */
  start(env: StartMessage["env"]): Promise<string | undefined>;
  /** Leaves the process ended when it ends from now on. */
  stopRestarting(): void;
}

/** A child process and where its news go. */
export interface ChildOptions {
  /** Name of its log: `gateway`. */
  readonly name: string;
  /** Name for people: `Gateway`. */
  readonly title: string;
  /** Path of its program, which calls `runProcess`. */
  readonly program: string;
  /** All of its environment until {@linkcode Child.start}. */
  readonly env: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly tree: Tree;
  /** Prints a line for the operator. */
  print(text: string): void;
  /** After a life of this length it is restarted without a longer delay, milliseconds; default a minute. */
  readonly stableMs?: number;
}

/** One life of a child. */
interface Life {
  readonly process: ChildProcess;
  readonly ready: Promise<string | undefined>;
  /** Resolves with the reason, as far as the process's log tells. */
  readonly ended: Promise<string>;
}

/** Starts loading a child process. When it ends later without being asked to, it is restarted. */
export function openChild(options: ChildOptions): Child {
  const { title, print, stableMs = STABLE_MS } = options;
  let restarts = true;
  const delays = restartDelays(stableMs);
  const log = logPath(options.dataDir, options.name);
  let life = launch(options);
  const place = { id: placeId(options.dataDir, options.name), restarts: 0 };

  async function begin(env: StartMessage["env"]): Promise<string | undefined> {
    const { process: child, ready, ended } = life;
    child.send({ start: true, place, env } satisfies StartMessage, () => {});
    const failed = ended.then((reason) => {
      throw new EmbeddedError(`${title} could not start: ${reason}`);
    });
    return await Promise.race([ready, failed]);
  }

  async function keepRunning(env: StartMessage["env"]): Promise<void> {
    while (true) {
      const startedAt = Date.now();
      const reason = await life.ended;
      if (!restarts) return;
      const delay = delays.next(Date.now() - startedAt);
      print(`${title} ended (${reason}); restarting it in ${delay / 1000} s · tail ${log}`);
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (!restarts) return;
      place.restarts++;
      life = launch(options);
      await begin(env).then(
        () => print(`${title} was started again · npm run now`),
        () => {}, // it has ended, which the next round prints
      );
    }
  }

  return {
    start: async (env) => {
      const address = await begin(env);
      void keepRunning(env);
      return address;
    },
    stopRestarting: () => {
      restarts = false;
    },
  };
}

function launch({ name, program, env, dataDir, tree, print }: ChildOptions): Life {
  const log = openLog(dataDir, name);
  const child = fork(program, [SUPERVISED], {
    env,
    stdio: ["ignore", log, log, "ipc"],
    detached: true,
  });
  closeSync(log);
  const id = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (id) tree.add({ name, ...id, signal: "SIGTERM", rank: 1 });
  const ready = new Promise<string | undefined>((resolve) => {
    child.on("message", (report: Report) => {
      if ("ready" in report) resolve(report.address);
      if ("line" in report) print(report.line);
    });
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      if (id) tree.remove(id);
      const reason = findReason(readLastLines(dataDir, name, 30));
      resolve(reason ?? (signal ? `killed by ${signal}` : `exit ${code}`));
    });
  });
  return { process: child, ready, ended };
}

/** Finds why a process ended in its log: in a line of ours, or in what Node prints when a program fails to load. */
function findReason(lines: string[]): string | undefined {
  for (const line of lines.reverse()) {
    const { level, msg } = (parseLine(line) ?? {}) as { level?: string; msg?: string };
    if (level === "fatal" || level === "error") return msg;
    if (/^\w*Error\b.*: /.test(line)) return line;
  }
  return undefined;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

import { type ChildProcess, fork } from "node:child_process";
import { closeSync } from "node:fs";
import {
  EmbeddedError,
  identifyProcess,
  openLog,
  readLastLines,
  type Tree,
} from "../../embedded/mod.ts";
import { pauses, STEADY_MS } from "./_pauses.ts";
import { type Go, type Report, SUPERVISED } from "../_process.ts";

/** A process of the platform that is kept running. */
export interface Child {
  /**
   * Lets it start its work; until then it only loads.
   *
   * @returns URL that it serves, if it serves, once it does
   * @throws {EmbeddedError} it ended before, with the reason from its log
   */
  go(env: Go["env"]): Promise<string | undefined>;
  /** From here on it is left ended when it ends. */
  retire(): void;
}

/** What a child is, and whom to tell about it. */
export interface ChildOptions {
  /** Of its log: `gateway`. */
  readonly name: string;
  /** For people: `Gateway`. */
  readonly title: string;
  /** Path of its entry, which calls `runProcess`. */
  readonly entry: string;
  /** All of its environment until {@linkcode Child.go}. */
  readonly env: Readonly<Record<string, string>>;
  /** Options of Node, besides those of this process; default: none. */
  readonly node?: readonly string[] | undefined;
  readonly dataDir: string;
  readonly tree: Tree;
  /** Tells a person what happened. */
  say(text: string): void;
  /** How long it has to live to be started again without a longer pause, milliseconds; default a minute. */
  readonly steadyMs?: number;
}

/** One life of a child. */
interface Life {
  readonly process: ChildProcess;
  readonly ready: Promise<string | undefined>;
  /** With the reason, as far as its log tells. */
  readonly ended: Promise<string>;
}

/** Starts a child loading at once. When it ends later without being asked to, it is started again. */
export function openChild(options: ChildOptions): Child {
  const { title, say, steadyMs = STEADY_MS } = options;
  let retired = false;
  const pausing = pauses(steadyMs);
  let life = launch(options);

  async function begin(env: Go["env"]): Promise<string | undefined> {
    const { process: child, ready, ended } = life;
    child.send({ go: true, env } satisfies Go, () => {});
    const failed = ended.then((reason) => {
      throw new EmbeddedError(`${title} could not start: ${reason}`);
    });
    return await Promise.race([ready, failed]);
  }

  async function keep(env: Go["env"]): Promise<void> {
    while (true) {
      const started = Date.now();
      const reason = await life.ended;
      if (retired) return;
      const pause = pausing.after(Date.now() - started);
      say(`${title} ended (${reason}); starting it again in ${pause / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (retired) return;
      life = launch(options);
      await begin(env).then(
        () => say(`${title} is back`),
        () => {}, // it has ended, which the next round says
      );
    }
  }

  return {
    go: async (env) => {
      const address = await begin(env);
      keep(env);
      return address;
    },
    retire: () => {
      retired = true;
    },
  };
}

function launch({ name, entry, env, node = [], dataDir, tree }: ChildOptions): Life {
  const log = openLog(dataDir, name);
  const child = fork(entry, [SUPERVISED], {
    env,
    execArgv: [...process.execArgv, ...node],
    stdio: ["ignore", log, log, "ipc"],
    detached: true,
  });
  closeSync(log);
  const id = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (id) tree.add({ name, ...id, signal: "SIGTERM", rank: 1 });
  const ready = new Promise<string | undefined>((resolve) => {
    child.on("message", (report: Report) => {
      if ("ready" in report) resolve(report.address);
    });
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      if (id) tree.remove(id);
      resolve(reasonOf(dataDir, name) ?? (signal ? `killed by ${signal}` : `exit ${code}`));
    });
  });
  return { process: child, ready, ended };
}

/** What a child's log says of its end: our own line, or what Node prints when a process fails to load. */
function reasonOf(dataDir: string, name: string): string | undefined {
  for (const line of readLastLines(dataDir, name, 30).reverse()) {
    const { level, msg } = (parse(line) ?? {}) as { level?: string; msg?: string };
    if (level === "fatal" || level === "error") return msg;
    if (/^\w*Error\b.*: /.test(line)) return line;
  }
  return undefined;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

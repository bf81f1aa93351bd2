import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isRunning, type ProcessId, stopProcess } from "../embedded/mod.ts";

/** How a service is brought back: one of the two. */
export type Restart =
  | { readonly command: readonly string[] }
  | { readonly process: ManagedProcess };

/** A process that the platform itself runs for its user. */
export interface ManagedProcess {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Which restart it is, of what, and where its marks are. */
export interface RestartOrder {
  readonly dataDir: string;
  /** Names this one act: `[0-9a-f]+`. */
  readonly effectId: string;
  readonly service: string;
  readonly restart: Restart;
}

/** What the world says of an act: whether it happened, and how it ended. */
export type Happened = { readonly state: "done" | "not_done" | "unknown"; readonly code: string };

/** A process of the platform's user, as it is written down. */
type ManagedRecord = ProcessId & { readonly name: string; readonly effect_id: string };

const STOP_MS = 3_000;
const COMMAND_MS = 120_000;
const POLL_MS = 25;
const EFFECT = "SEALOOP_EFFECT";

/** Leaves its number before it becomes the process, so that it can be asked later whether it ever was. */
const BECOME = 'echo $$ > "$SEALOOP_MARKS/started" && exec "$@"';
/** Leaves how the command ended, whether or not anybody still waits for it. */
const RUN = 'echo $$ > "$SEALOOP_MARKS/started"; "$@"; ' +
  'echo $? > "$SEALOOP_MARKS/exit.new"; mv "$SEALOOP_MARKS/exit.new" "$SEALOOP_MARKS/exit"';

/**
 * Restarts a service. It must not be called twice with one effect id: ask {@linkcode whatHappened} first.
 *
 * The act is detached from this process, and leaves marks of itself: it goes on if this process is killed, and
 * another one can find out what became of it.
 */
export async function restart(order: RestartOrder): Promise<Happened> {
  mkdirSync(marksOf(order), { recursive: true });
  if ("process" in order.restart) {
    await stopManaged(order.dataDir, order.service);
    await launch(order, BECOME, order.restart.process);
    return await whatHappened(order);
  }
  await launch(order, RUN, { command: order.restart.command });
  return await whatHappened(order);
}

/** Asks the world whether an act happened; waits for one that is still going on. */
export async function whatHappened(order: RestartOrder): Promise<Happened> {
  const marks = marksOf(order);
  const started = number(join(marks, "started")) ?? findByEffect(order.effectId);
  if (started === undefined) return { state: "not_done", code: "not_started" };
  if ("process" in order.restart) {
    const id = carries(started, order.effectId) ? identify(started) : undefined;
    if (id) record(order, id);
    return { state: "done", code: id ? "started" : "started_and_ended" };
  }
  const deadline = Date.now() + COMMAND_MS;
  while (Date.now() < deadline) {
    const exit = number(join(marks, "exit"));
    if (exit !== undefined) return { state: "done", code: `exit_${exit}` };
    if (!carries(started, order.effectId)) break;
    await sleep(POLL_MS);
  }
  await sleep(POLL_MS); // it may have ended between the two looks
  const exit = number(join(marks, "exit"));
  return exit === undefined
    ? { state: "unknown", code: "no_exit" }
    : { state: "done", code: `exit_${exit}` };
}

/** Stops a process that the platform runs, if it runs. */
export async function stopManaged(dataDir: string, service: string): Promise<void> {
  const path = recordPath(dataDir, service);
  const known = read<ManagedRecord>(path);
  if (!known) return;
  await stopProcess(known, "SIGTERM", STOP_MS);
  rmSync(path, { force: true });
}

/** The process that the platform runs for a service, if it runs. */
export function managedProcess(dataDir: string, service: string): ProcessId | undefined {
  const known = read<ManagedRecord>(recordPath(dataDir, service));
  return known && isRunning(known) ? known : undefined;
}

async function launch(
  order: RestartOrder,
  script: string,
  { command, cwd, env }: ManagedProcess,
): Promise<void> {
  const marks = marksOf(order);
  const log = openSync(join(marks, "log"), "a");
  const child = spawn("/bin/sh", ["-c", script, "sh", ...command], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...env,
      [EFFECT]: order.effectId,
      SEALOOP_MARKS: marks,
    },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve())
  );
  child.unref();
  const began = Date.now();
  let gone = false;
  ended.then(() => gone = true);
  while (number(join(marks, "started")) === undefined && !gone && Date.now() - began < STOP_MS) {
    await sleep(5);
  }
}

function record(order: RestartOrder, id: ProcessId): void {
  const path = recordPath(order.dataDir, order.service);
  mkdirSync(join(order.dataDir, "processes"), { recursive: true });
  const content: ManagedRecord = { name: order.service, ...id, effect_id: order.effectId };
  writeFileSync(`${path}.new`, JSON.stringify(content));
  renameSync(`${path}.new`, path);
}

/** The process of an act that was killed before it could leave its mark. Only where the system shows environments. */
function findByEffect(effectId: string): number | undefined {
  if (!existsSync("/proc/self/environ")) return undefined;
  return readdirSync("/proc").map(Number).find((pid) => pid > 0 && carries(pid, effectId));
}

/** Whether a process runs and is that of the act. */
function carries(pid: number, effectId: string): boolean {
  if (!identify(pid)) return false;
  if (!existsSync("/proc/self/environ")) return true;
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(
      `${EFFECT}=${effectId}`,
    );
  } catch {
    return false;
  }
}

const marksOf = ({ dataDir, effectId }: RestartOrder) => join(dataDir, "effects", effectId);
const recordPath = (dataDir: string, service: string) =>
  join(dataDir, "processes", `${encodeURIComponent(service)}.json`);

function read<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function number(path: string): number | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    return text === "" ? undefined : Number(text);
  } catch {
    return undefined;
  }
}

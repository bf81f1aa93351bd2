import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess } from "../../embedded/mod.ts";
import {
  becameOf,
  belongsToEffect,
  findLaunched,
  type Launch,
  launch,
  type Limits,
  readMarks,
} from "./_launch.ts";
import { recordManagedProcess, stopManagedProcess } from "./managed.ts";

/** How a service is brought back: by running a command, or by running it as a process of the platform's own. */
export type Restart =
  | { readonly command: readonly string[]; readonly limits?: Limits }
  | { readonly process: Launch };

/** Which restart it is, of what, and where its marks are. */
export interface RestartRequest {
  readonly dataDir: string;
  /** Names this one act: `[0-9a-f]+`. */
  readonly effectId: string;
  readonly service: string;
  readonly restart: Restart;
  /** Longest that a command may take, milliseconds; default 120,000. */
  readonly limitMs?: number;
}

/**
 * What the world says of an act: whether it happened, and how it ended. `code` is `started`, `ended_at_once`,
 * `exit_<n>`, `not_started`, `no_start`, `no_exit` or `timeout`.
 */
export interface ActionOutcome {
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
}

const COMMAND_MS = 120_000;
const POLL_MS = 50;

/**
 * Restarts a service, unless it has happened already: the same order given again, by whichever process and at whatever
 * moment, acts once.
 *
 * The act is detached from this process and leaves marks of itself in `effects/<effect id>`: it goes on if this process
 * is killed, and the next one can ask the world what became of it.
 */
export async function restart(order: RestartRequest): Promise<ActionOutcome> {
  const { dataDir, effectId, service } = order;
  const before = await findOutcome(order);
  if (before.state !== "not_done") return before;
  const marks = marksOf(order);
  if ("process" in order.restart) {
    await stopManagedProcess(dataDir, service, effectId);
    await launch(order.restart.process, { effectId, marks, how: "become" });
  } else {
    const { limitMs = COMMAND_MS } = order;
    const began = Date.now();
    const { end } = await launch(order.restart, { effectId, marks, how: "run" });
    await within(limitMs, end);
    return await findOutcome({ ...order, limitMs: began + limitMs - Date.now() });
  }
  return await findOutcome(order);
}

/** Waits for an end, but no longer than this; leaves no timer behind. */
async function within(limitMs: number, end: Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = sleep(limitMs, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([end, timer]);
  over.abort();
}

/** Asks the world whether an act happened. Waits for a command that is still running. */
export async function findOutcome(order: RestartRequest): Promise<ActionOutcome> {
  const { dataDir, effectId, service } = order;
  const marks = marksOf(order);
  if (!existsSync(marks)) return { state: "not_done", code: "not_started" };
  const mark = readMarks(marks).started;
  const started = mark || findLaunched(effectId);
  if (!started) {
    return mark === 0
      ? { state: "unknown", code: "no_start" }
      : { state: "not_done", code: "not_started" };
  }
  if ("command" in order.restart) return await commandEnd(order, started);
  const id = await becameOf(started, effectId) ? identifyProcess(started) : undefined;
  if (!id) return { state: "done", code: "ended_at_once" };
  recordManagedProcess(dataDir, { name: service, ...id, effect_id: effectId });
  return { state: "done", code: "started" };
}

async function commandEnd(order: RestartRequest, started: number): Promise<ActionOutcome> {
  const { effectId, limitMs = COMMAND_MS } = order;
  const marks = marksOf(order);
  const deadline = Date.now() + limitMs;
  while (true) {
    const running = belongsToEffect(started, effectId); // looked at before the mark, which it leaves before it ends
    const { exit } = readMarks(marks);
    if (exit !== undefined) return { state: "done", code: `exit_${exit}` };
    if (!running) return { state: "unknown", code: "no_exit" };
    if (Date.now() >= deadline) break;
    await sleep(POLL_MS);
  }
  endGroup(started);
  return { state: "unknown", code: "timeout" };
}

/** Ends a command with all that it started: it leads a group of its own. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

const marksOf = ({ dataDir, effectId }: RestartRequest) => join(dataDir, "effects", effectId);

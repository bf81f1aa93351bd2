import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stripInvisible } from "../../contract/mod.ts";
import { bootId, identifyProcess } from "../../runtime/embedded/mod.ts";
import type { ServiceRecord } from "../../store/cmdb/mod.ts";
import { pathBelow } from "../files/mod.ts";
import {
  becameEffect,
  belongsToEffect,
  findLaunched,
  type Launch,
  launch,
  type Limits,
  readMarks,
} from "./_launch.ts";
import { redactLine } from "./_log_secrets.ts";
import { recordManagedProcess, stopManagedProcess } from "./managed.ts";
import { readTail } from "./platform_logs.ts";
import type { HealthCheck } from "./probe.ts";

/** An act on a service of this host: a command to run, or a program to run as a process of the platform. */
export type HostAct =
  | { readonly command: readonly string[]; readonly limits?: Limits }
  | { readonly process: Launch };

/** A request to act on a service once. */
export interface ActRequest {
  readonly dataDir: string;
  /** Names this one act, for all processes and attempts: `[0-9a-f]+`. */
  readonly effectId: string;
  readonly service: string;
  readonly act: HostAct;
  /** Maximum duration of a command; default 120,000. */
  readonly timeoutMs?: number;
}

/**
 * Outcome of an act: whether it happened, and how it ended. `code` is `started`, `ended_at_once`, `exit_<n>`,
 * `not_started`, `no_start`, `no_exit` or `timeout`.
 */
export interface ActOutcome {
  readonly state: "done" | "not_done" | "unknown";
  readonly code: string;
}

/** A service, with the types of its health check and of its restart. */
export type Service = ServiceRecord<HealthCheck, HostAct>;

const COMMAND_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

/**
 * Acts on a service, such as to restart it, unless this request was carried out already. The same request acts once,
 * whichever processes give it and however often. A program takes the place of the one that the platform ran before for the
 * service.
 *
 * The act is detached from this process and leaves marks in `effects/<effect id>`. It goes on if this process is killed,
 * and the next one can find its outcome.
 */
export async function actOnce(request: ActRequest): Promise<ActOutcome> {
  const { dataDir, effectId, service, timeoutMs = COMMAND_TIMEOUT_MS } = request;
  const before = await findOutcome(request);
  if (before.state !== "not_done") return before;
  const marks = marksFolder(request);
  if ("process" in request.act) {
    await stopManagedProcess(dataDir, service, effectId);
    await launch(request.act.process, { effectId, marks, how: "become" });
    return await findOutcome(request);
  }
  const began = Date.now();
  const { end } = await launch(request.act, { effectId, marks, how: "run" });
  await waitAtMost(timeoutMs, end);
  return await findOutcome({ ...request, timeoutMs: began + timeoutMs - Date.now() });
}

/** Waits for an end, and leaves no timer behind. */
async function waitAtMost(timeoutMs: number, end: Promise<void>): Promise<void> {
  const over = new AbortController();
  const timer = sleep(timeoutMs, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([end, timer]);
  over.abort();
}

/** Finds out whether an act happened. Waits for a command that is still running. */
export async function findOutcome(request: ActRequest): Promise<ActOutcome> {
  const { dataDir, effectId, service } = request;
  const marks = marksFolder(request);
  if (!existsSync(marks)) return { state: "not_done", code: "not_started" };
  const mark = readMarks(marks).started;
  const started = mark || findLaunched(effectId);
  if (!started) {
    return mark === 0
      ? { state: "unknown", code: "no_start" }
      : { state: "not_done", code: "not_started" };
  }
  if ("command" in request.act) return await waitForExit(request, started);
  const id = await becameEffect(started, effectId) ? identifyProcess(started) : undefined;
  if (!id) return { state: "done", code: "ended_at_once" };
  const { on_stop } = request.act.process;
  recordManagedProcess(dataDir, {
    name: service,
    ...id,
    effect_id: effectId,
    boot: bootId(),
    ...(on_stop ? { on_stop } : {}),
  });
  return { state: "done", code: "started" };
}

async function waitForExit(request: ActRequest, started: number): Promise<ActOutcome> {
  const { effectId, timeoutMs = COMMAND_TIMEOUT_MS } = request;
  const marks = marksFolder(request);
  const deadline = Date.now() + timeoutMs;
  while (true) {
    const running = belongsToEffect(started, effectId); // before the mark is read: it writes that before it ends
    const { exit } = readMarks(marks);
    if (exit !== undefined) return { state: "done", code: `exit_${exit}` };
    if (!running) return { state: "unknown", code: "no_exit" };
    if (Date.now() >= deadline) break;
    await sleep(POLL_MS);
  }
  killGroup(started);
  return { state: "unknown", code: "timeout" };
}

/** Kills a command with all that it started: it leads a process group of its own. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

/**
 * Returns the end of what an act of this host has printed, without secrets; undefined: it has printed nothing.
 *
 * @param maxBytes of the file that are read
 */
export async function readPrinted(
  place: Pick<ActRequest, "dataDir" | "effectId">,
  maxBytes: number,
): Promise<string | undefined> {
  const text = await readTail(join(marksFolder(place), "log"), maxBytes).catch(() => "");
  return redactLine(stripInvisible(text)).trim() || undefined;
}

function marksFolder({ dataDir, effectId }: Pick<ActRequest, "dataDir" | "effectId">): string {
  return pathBelow(join(dataDir, "effects"), effectId);
}

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pathBelow } from "../../integrations/files/mod.ts";
import {
  belongsToEffect,
  findListener,
  findManagedProcess,
  hostPortOf,
  isThisHost,
  lastManagedProcess,
  type ListeningSocket,
  parseHostPort,
  type Service,
} from "../../integrations/host/mod.ts";
import type { ObserverContext, Subject } from "./observer.ts";
import { oncePer } from "./_once.ts";
import { listProc, readProc, readProcIfAny } from "./_proc.ts";
import { runProgram } from "./_program.ts";

/** Process of a service, and how it was found. */
export interface ServiceProcess {
  readonly pid: number;
  /** Words for people. */
  readonly by: string;
}

/** Processes of a service that are looked at. */
const MAX_PROCESSES = 8;

/** Returns the host and port that the check of a service goes to; undefined: it goes to none. */
export function placeOf({ check }: Partial<Pick<Service, "check">> = {}) {
  if (!check || "command" in check) return undefined;
  return "tcp" in check ? parseHostPort(check.tcp) : hostPortOf(new URL(check.http));
}

/** Returns the port on this host that the check of a service goes to; undefined: it goes to none. */
export function localPortOf(service: Pick<Service, "check">): number | undefined {
  const place = placeOf(service);
  return place && isThisHost(place.host) ? place.port : undefined;
}

/** Returns the command, the folder and the variables by which the platform starts a service; empty: it does not. */
export function startOf({ restart }: Pick<Service, "restart">): {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
} {
  const { command = [], cwd, env = {} } = restart && "process" in restart ? restart.process : {};
  return { command, env, ...(cwd ? { cwd } : {}) };
}

/** Returns whether a process of a service can be found on this host, if it runs: by its start, its unit or its port. */
export function mayHaveProcess({ service, isLocal, values: { unit } }: Subject): boolean {
  if (!service || !isLocal) return false;
  return startOf(service).command.length > 0 || typeof unit === "string" ||
    localPortOf(service) !== undefined;
}

/** Finds the process of a service on this host; undefined: none is known, or none runs. */
async function findProcess(
  { service, isLocal, values }: Subject,
  { config }: Pick<ObserverContext, "config">,
): Promise<ServiceProcess | undefined> {
  if (!service || !isLocal) return undefined;
  const managed = findManagedProcess(config.dataDir, service.name);
  if (managed) return { pid: managed.pid, by: "which sealoop has started" };
  const main = typeof values.unit === "string" ? await mainProcess(values.unit) : undefined;
  if (main) return { pid: main, by: `the main process of ${values.unit}` };
  const number = localPortOf(service);
  const holder = number === undefined ? undefined : await findListener(number);
  return holder?.pid === undefined || isForeign(config.dataDir, service.name, holder)
    ? undefined
    : { pid: holder.pid, by: "which listens on the port of the check" };
}

/** Finds the process of a service and those that it has started, itself first; empty: none is known, or none runs. */
export const findProcesses = oncePer(listProcesses);

async function listProcesses(
  subject: Subject,
  context: Pick<ObserverContext, "config">,
): Promise<ServiceProcess[]> {
  const first = await findProcess(subject, context);
  if (!first) return [];
  const parents = new Map<number, number>();
  for (const pid of listProc("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = readProcIfAny(`/proc/${pid}/stat`);
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent) parents.set(Number(pid), Number(parent));
  }
  const found = [first];
  for (const { pid: from } of found) {
    for (const [pid, parent] of parents) {
      if (parent === from && found.length < MAX_PROCESSES) {
        found.push({ pid, by: `which process ${from} has started` });
      }
    }
  }
  return found;
}

/** Returns when the process of a service was started, or that which ran last; undefined: it is not known. */
export async function findStart(
  subject: Subject,
  context: Pick<ObserverContext, "config">,
): Promise<Date | undefined> {
  const [found] = await findProcesses(subject, context);
  if (found) return new Date(Date.now() - 1_000 * readAge(found.pid));
  const { dataDir } = context.config;
  const last = subject.service && lastManagedProcess(dataDir, subject.service.name);
  if (!last) return undefined;
  const mark = join(pathBelow(join(dataDir, "effects"), last.effect_id), "started");
  return (await stat(mark).catch(() => undefined))?.mtime;
}

/** Ticks of a second in `/proc`: USER_HZ is 100 on all of Linux. */
export const TICKS = 100;

/** Returns the age of a process, seconds. @see proc_pid_stat(5) */
function readAge(pid: number): number {
  const [stat, uptime] = [readProc(`/proc/${pid}/stat`), readProc("/proc/uptime")];
  const started = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  return Number(uptime.split(" ")[0]) - started / TICKS;
}

/** Returns whether a socket is held by a program that is not the one that the platform has started for a service. */
export function isForeign(dataDir: string, service: string, { pid }: ListeningSocket): boolean {
  const last = lastManagedProcess(dataDir, service);
  return last !== undefined && pid !== undefined && pid !== last.pid &&
    !belongsToEffect(pid, last.effect_id);
}

async function mainProcess(unit: string): Promise<number | undefined> {
  const show = ["systemctl", "show", "--property=MainPID", "--value", "--", unit];
  const { text } = await runProgram(show).catch(() => ({ text: "" })); // no systemd
  return Number(text) || undefined;
}

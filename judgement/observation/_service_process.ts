import {
  belongsToEffect,
  findManagedProcess,
  hostPortOf,
  isThisHost,
  lastManagedProcess,
  type ListeningSocket,
  listSockets,
  parseHostPort,
  type Service,
} from "../../integrations/host/mod.ts";
import type { ObserverContext, Subject } from "./observer.ts";
import { runProgram } from "./_program.ts";

/** Process of a service, and how it was found. */
export interface ServiceProcess {
  readonly pid: number;
  /** Words for people. */
  readonly by: string;
}

/** Returns the host and port that the check of a service goes to; undefined: it goes to none. */
export function placeOf({ check }: Pick<Service, "check">) {
  if (!check || "command" in check) return undefined;
  return "tcp" in check ? parseHostPort(check.tcp) : hostPortOf(new URL(check.http));
}

/** Returns the port on this host that the check of a service goes to; undefined: it goes to none. */
export function localPortOf(service: Pick<Service, "check">): number | undefined {
  const place = placeOf(service);
  return place && isThisHost(place.host) ? place.port : undefined;
}

/** Finds the process of a service on this host; undefined: none is known, or none runs. */
export async function findProcess(
  { service, isLocal, values }: Subject,
  { config }: Pick<ObserverContext, "config">,
): Promise<ServiceProcess | undefined> {
  if (!service || !isLocal) return undefined;
  const managed = findManagedProcess(config.dataDir, service.name);
  if (managed) return { pid: managed.pid, by: "which sealoop has started" };
  const main = typeof values.unit === "string" ? await mainProcess(values.unit) : undefined;
  if (main) return { pid: main, by: `the main process of ${values.unit}` };
  const number = localPortOf(service);
  const holder = (await listSockets()).find(({ port }) => port === number);
  return holder?.pid === undefined || isForeign(config.dataDir, service.name, holder)
    ? undefined
    : { pid: holder.pid, by: "which listens on the port of the check" };
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

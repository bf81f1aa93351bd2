import { hostPortOf, parseHostPort, type Service } from "../../integrations/host/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { Subject } from "./observer.ts";
import { placeOf } from "./_service_process.ts";

/** An address that a service uses. */
export interface UsedAddress {
  readonly host: string;
  readonly port: number;
  /** What it is the address of: the check, a service, or a setting by its name. */
  readonly of: string;
  /** The service that it is declared for; undefined: a setting or the check. */
  readonly dependency?: Service;
}

const MAX_ADDRESSES = 16;
const HOST_PORT = /^[A-Za-z0-9][A-Za-z0-9.-]*:\d{1,5}$/;

/** Lists the addresses of a service's check, of what it depends on, and in the variables and arguments of its process. */
export async function listAddresses(
  { service }: Pick<Subject, "service">,
  db: Db,
): Promise<UsedAddress[]> {
  if (!service) return [];
  const own = placeOf(service);
  const needed = await Promise.all(
    service.dependsOn.map(({ service: name }) => getService(db, name)),
  );
  const dependencies = (needed as (Service | undefined)[]).flatMap((one): UsedAddress[] => {
    const place = one && placeOf(one);
    return place ? [{ ...place, of: one.name, dependency: one }] : [];
  });
  const { restart } = service;
  const { command = [], env = {} } = restart && "process" in restart ? restart.process : {};
  const settings = [...Object.entries(env), ...command.map((text) => ["argument", text] as const)]
    .flatMap(([name, text]) => addressesIn(text).map((place) => ({ ...place, of: name })));
  const all = [...(own ? [{ ...own, of: "the check" }] : []), ...dependencies, ...settings];
  const byPlace = new Map<string, UsedAddress>();
  for (const one of all) {
    const place = `${one.host}:${one.port}`;
    if (!byPlace.has(place)) byPlace.set(place, one);
  }
  return [...byPlace.values()].slice(0, MAX_ADDRESSES);
}

/** Returns the addresses in a setting: URLs, and `host:port` alone. */
function addressesIn(text: string): { readonly host: string; readonly port: number }[] {
  const value = text.replace(/^--?[\w-]+=/, "");
  if (HOST_PORT.test(value)) return [parseHostPort(value)];
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || !URL.canParse(value)) return [];
  const url = new URL(value);
  return url.hostname === "" ? [] : [hostPortOf(url)];
}

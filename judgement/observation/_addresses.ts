import { hostPortOf, parseHostPort, type Service } from "../../integrations/host/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import type { Db } from "../../store/mod.ts";
import { listSettings, readSettings } from "./_folders.ts";
import type { Subject } from "./observer.ts";
import { placeOf, startOf } from "./_service_process.ts";

/** Who says that a service uses an address: its check, its declared dependencies, how it is started, a file of settings. */
type AddressSource = "check" | "dependency" | "setting" | "file";

/** An address that a service uses. */
export interface UsedAddress {
  readonly host: string;
  /** Undefined: only its host is known. */
  readonly port?: number;
  /** The check, a service, or a setting or a file by its name. */
  readonly of: string;
  readonly given: AddressSource;
  /** The service that it is declared for. */
  readonly dependency?: Service;
  /** URL without credentials, query and fragment. */
  readonly url?: URL;
}

type Place = Pick<UsedAddress, "host" | "port" | "url">;

const MAX_ADDRESSES = 16;
const HOST_PORT = /^\[?[A-Za-z0-9][A-Za-z0-9.:-]*\]?:\d{1,5}$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z][A-Za-z0-9-]*$/;
const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;
/** Names of settings that hold a host. */
const HOST_NAME = /(?:host|hostname|server|upstream|endpoint|broker)$/i;
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ws:": 80,
  "wss:": 443,
  "postgres:": 5432,
  "postgresql:": 5432,
  "mysql:": 3306,
  "redis:": 6379,
  "rediss:": 6379,
  "amqp:": 5672,
  "amqps:": 5671,
  "mongodb:": 27017,
  "nats:": 4222,
  "ldap:": 389,
  "ldaps:": 636,
};

/** Returns whether a service may use others than its own address: it has dependencies, or settings that may name them. */
export function mayUseAddresses({ service }: Pick<Subject, "service">): boolean {
  return service !== undefined &&
    (service.dependsOn.length > 0 || startOf(service).command.length > 0);
}

/** Lists the addresses of a service's check, of what it depends on, and in its variables, arguments and files of settings. */
export async function listAddresses(
  { service, isLocal }: Pick<Subject, "service" | "isLocal">,
  db: Db,
): Promise<UsedAddress[]> {
  if (!service) return [];
  const own = placeOf(service);
  const needed = await Promise.all(
    service.dependsOn.map(({ service: name }) => getService(db, name)),
  );
  const dependencies = (needed as (Service | undefined)[]).flatMap((one): UsedAddress[] => {
    const place = one && placeOf(one);
    return place ? [{ ...place, of: one.name, given: "dependency", dependency: one }] : [];
  });
  const { command, env } = startOf(service);
  const settings = [...Object.entries(env), ...command.map((text) => ["argument", text] as const)]
    .flatMap(([of, text]) =>
      placesIn(of, text).map((one) => ({ ...one, of, given: "setting" as const }))
    );
  const all: UsedAddress[] = [
    ...(own ? [{ ...own, of: "the check", given: "check" as const }] : []),
    ...dependencies,
    ...settings,
    ...(isLocal ? await listInFiles(service) : []),
  ];
  const byPlace = new Map<string, UsedAddress>();
  for (const one of all) {
    const place = `${one.host}:${one.port}`;
    if (!byPlace.has(place)) byPlace.set(place, one);
  }
  return [...byPlace.values()].slice(0, MAX_ADDRESSES);
}

/** Lists the addresses in the files of settings of a service. */
async function listInFiles(service: Service): Promise<UsedAddress[]> {
  const found: UsedAddress[] = [];
  for (const path of await listSettings(service)) {
    const text = await readSettings(path);
    const lines = (text ?? "").split("\n").filter((line) => !/^\s*(?:#|\/\/|;)/.test(line));
    for (const [, name = "", value] of lines.join("\n").matchAll(SETTING)) {
      const of = path.split("/").at(-1)!;
      found.push(...placesIn(name, value!).map((one) => ({ ...one, of, given: "file" as const })));
    }
  }
  return found;
}

/** A name and its value, as files of settings write them: `host: a`, `"host": "a"`, `host = a`, `proxy_pass http://a;`. */
const SETTING = /["']?([\w.-]{1,60})["']?(?:[ \t]*[:=][ \t]*|[ \t]+)["']?([^\s"',;{}[\]#]{3,300})/g;

/** Returns the addresses in a setting: URLs, `host:port` alone, and hosts where the setting's name says that it is one. */
function placesIn(name: string, text: string): Place[] {
  const value = text.replace(/^--?[\w-]+=/, "");
  const option = /^--?([\w-]+)=/.exec(text)?.[1] ?? name;
  if (URL_START.test(value)) return placesInUrl(value);
  if (HOST_PORT.test(value)) {
    const place = parseHostPort(value);
    return isHost(place.host) && place.port <= 65_535 ? [place] : [];
  }
  return HOST_NAME.test(option) && HOST.test(value) ? [{ host: value }] : [];
}

function placesInUrl(value: string): Place[] {
  if (!URL.canParse(value)) return [];
  const { protocol, host, hostname, port, pathname } = new URL(value);
  if (hostname === "" || protocol === "file:") return [];
  const known = Number(port) || DEFAULT_PORTS[protocol];
  const url = new URL(`${protocol}//${host}${pathname}`);
  if (known === undefined) return [{ host: hostname.replace(/^\[|\]$/g, ""), url }];
  return [{ ...hostPortOf(new URL(`tcp://${hostname}:${known}`)), url }];
}

/** A time such as 10:30 looks like an address, too. */
const isHost = (host: string) =>
  /[a-z]/i.test(host) || /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.includes(":");

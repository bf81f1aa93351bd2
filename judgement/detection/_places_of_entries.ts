/** Entries of the services file that would mean another machine at another place. */
import { isDeepStrictEqual } from "node:util";
import { ANY_PLACE } from "../../contract/domain/mod.ts";
import { LOCAL_HOSTS } from "./_local_hosts.ts";

/** An entry, as far as it says where it is. */
interface PlacedEntry {
  readonly name: string;
  readonly tenant: string;
  readonly host: string;
  readonly place?: string | undefined;
  readonly check?: Act | { readonly http: string } | { readonly tcp: string } | undefined;
  readonly restart?: Act | { readonly process: object } | undefined;
}

interface Act {
  readonly command: readonly string[];
}

/** The place whose file is read, and what other places have. */
export interface Placing {
  /** Place of the file. */
  readonly own: string;
  /** All places, this one among them. */
  readonly places: readonly string[];
  /** Services that the files of other places list, by tenant and name. */
  readonly listedElsewhere: ReadonlyMap<string, ListedService>;
}

/** A service as the file of another place lists it. */
interface ListedService {
  /** Place of the file. */
  readonly listedBy: string;
  readonly host: string;
  /** Place that its entry names; null: none. */
  readonly place: string | null;
  readonly check: unknown;
  readonly restart: unknown;
}

/** Returns the key of a service in {@linkcode Placing}. */
export function placedKey({ tenant, name }: Pick<PlacedEntry, "tenant" | "name">): string {
  return `${tenant}\n${name}`;
}

const LOCAL_WORD = /(^|[^\w.-])(localhost|127(\.\d{1,3}){3}|::1|0\.0\.0\.0)($|[^\w.-])/;

/**
 * Says why an entry can't be taken where there are several places: it means the machine that it is read on, and nobody says
 * which one that is; or the file of another place lists the service otherwise, and what it says stays in force.
 *
 * @returns undefined: it can
 */
export function placeMistake(entry: PlacedEntry, placing: Placing): string | undefined {
  if (placing.places.length < 2) return undefined;
  const unplaced = isLocal(entry) ? unplacedMistake(entry, placing) : undefined;
  if (unplaced !== undefined) return unplaced;
  const other = placing.listedElsewhere.get(placedKey(entry));
  if (!other || isSame(entry, other)) return undefined;
  return `the file of the place ${other.listedBy} lists ${entry.name} otherwise, and that stays in force; leave it out of one of the files, or give them two names`;
}

/** Returns whether both would look at the same and do the same. */
function isSame({ host, place, check, restart }: PlacedEntry, other: ListedService): boolean {
  return isDeepStrictEqual(
    [host, place ?? null, check ?? null, withoutStop(restart ?? null)],
    [other.host, other.place, other.check, withoutStop(other.restart)],
  );
}

/** Returns a restart without what becomes of its process when the platform stops, which entries have in another field. */
function withoutStop(restart: unknown): unknown {
  if (restart === null || typeof restart !== "object" || !("process" in restart)) return restart;
  const { on_stop: _, ...process } = restart.process as Record<string, unknown>;
  return { process };
}

function unplacedMistake(entry: PlacedEntry, placing: Placing): string | undefined {
  const { own, places, listedElsewhere } = placing;
  const { name, place, host } = entry;
  if (place === ANY_PLACE) {
    return `${name} is on the machine that looks at it, another one at each place; expected the name of its place`;
  }
  if (place !== undefined || places.includes(host.toLowerCase())) return undefined;
  const other = listedElsewhere.get(placedKey(entry))?.listedBy;
  if (other === undefined) return undefined;
  return `the file of the place ${other} lists ${name} as well, and each means its own machine; say place: ${own} or place: ${other} in both, or give them two names`;
}

/** Returns whether a check or a restart means the machine that it runs on. */
function isLocal({ check, restart }: PlacedEntry): boolean {
  if (restart && "process" in restart) return true;
  if (check && "http" in check && isLocalHost(new URL(check.http).hostname)) return true;
  if (check && "tcp" in check && isLocalHost(check.tcp.replace(/:\d+$/, ""))) return true;
  const commands = [check, restart].flatMap((one) => one && "command" in one ? one.command : []);
  return commands.some((word) => LOCAL_WORD.test(word));
}

function isLocalHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return LOCAL_HOSTS.has(bare) || bare.startsWith("127.");
}

import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import type { Settings } from "../../config.ts";

/** The names by which clients reach a server, besides those of loopback. */
export interface ServerNames {
  /** Names and addresses of hosts, in the form of {@linkcode parseHost}. Any port of theirs is accepted. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of the server's own pages, where a proxy in front replaces `Host`. */
  readonly origins: ReadonlySet<string>;
}

/** A name, an IPv4 address, or an IPv6 address in brackets; then perhaps a port. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::\d{0,5})?$/i;
/** Addresses that mean every address of a machine, and so are no name of a server. */
const WILDCARDS = new Set(["0.0.0.0", "::"]);

/**
 * Returns the names that the settings give to a server: those of `SEALOOP_HOSTS`, the address that it listens on, and its
 * public address.
 */
export function serverNames(
  { SEALOOP_BIND, SEALOOP_HOSTS }: Pick<Settings, "SEALOOP_BIND" | "SEALOOP_HOSTS">,
  publicUrls: readonly (string | undefined)[] = [],
): ServerNames {
  const urls = publicUrls.flatMap((url) => url === undefined ? [] : [new URL(url)]);
  const bind = WILDCARDS.has(SEALOOP_BIND) ? [] : [SEALOOP_BIND];
  const hosts = [...SEALOOP_HOSTS, ...bind, ...urls.map(({ hostname }) => hostname)];
  return {
    hosts: new Set(hosts.flatMap((host) => parseHost(isIPv6(host) ? `[${host}]` : host) ?? [])),
    origins: new Set(urls.map(({ origin }) => origin)),
  };
}

/**
 * Returns the name or address of an authority, `host` or `host:port`: in lower case, without the dot of the root, an IPv6
 * address in its shortest form and without brackets.
 *
 * @returns undefined where it is none
 */
export function parseHost(authority: string): string | undefined {
  const [, address, name] = HOST.exec(authority) ?? [];
  if (address === undefined) return name?.toLowerCase();
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : undefined;
}

/** Returns true for a name or address of loopback, in the form of {@linkcode parseHost}. */
export function isLoopbackName(host: string | undefined): boolean {
  if (host === undefined) return false;
  return host === "localhost" || host === "::1" || isIPv4(host) && host.startsWith("127.");
}

/**
 * Returns true where a request is for this server by every host that it names: its one `Host`, the target where that is a
 * whole URL, and `X-Forwarded-Host`, which a proxy sets. The last can only refuse: nothing is accepted because of it.
 */
export function isOwnHost(req: IncomingMessage, { hosts }: ServerNames): boolean {
  const { host = [], "x-forwarded-host": forwarded = [] } = req.headersDistinct;
  const named = [
    ...host,
    ...targetAuthority(req.url ?? ""),
    ...forwarded.flatMap((line) => line.split(",").map((entry) => entry.trim())),
  ];
  return host.length === 1 && named.map(parseHost)
    .every((name) => name !== undefined && (isLoopbackName(name) || hosts.has(name)));
}

/** Returns the authority of a target in absolute form, with its user part, which no host has; else nothing. */
function targetAuthority(target: string): readonly string[] {
  if (target.startsWith("/") || target === "*") return [];
  return [/^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? ""];
}

/** Returns true where no page of another origin sends a request. Programs, and browsers for reads, name no origin. */
export function isOwnPage(
  req: IncomingMessage,
  options: { readonly names: ServerNames; readonly secure: boolean },
): boolean {
  const { origin } = req.headers;
  return origin === undefined || isOwnOrigin(origin, req, options);
}

/**
 * Returns true where a page of an origin is the server's own: its address is the one in `Host`, or the public one. A server
 * with TLS has pages over TLS alone, except by loopback names.
 */
export function isOwnOrigin(
  origin: string,
  { headers: { host = "" } }: IncomingMessage,
  { names, secure }: { readonly names: ServerNames; readonly secure: boolean },
): boolean {
  if (!/^https?:\/\/[^/?#@\\]+$/i.test(origin) || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (names.origins.has(page.origin)) return true;
  const isLocal = isLoopbackName(parseHost(host));
  if (!isLocal && page.protocol !== (secure ? "https:" : "http:")) return false;
  const own = `${page.protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === page.host;
}

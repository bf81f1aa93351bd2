import { lookup, type LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { createTimeoutSignal } from "../../contract/mod.ts";
import { converse } from "./_converse.ts";
import { exchange } from "./_exchange.ts";
import { type AddressRules, parseNetworks } from "./addresses.ts";
import {
  type ConversationEnd,
  type OutboundConversation,
  OutboundFailed,
  OutboundRefused,
  type OutboundRequest,
  type OutboundResponse,
} from "./messages.ts";

/** A client that sends requests to servers which others name, but only to addresses that it may reach. */
export interface HttpClient {
  /**
   * @throws {OutboundRefused} the address may not be reached; nothing was sent
   * @throws {OutboundFailed} the server can't be reached, or its response is wrong
   */
  request(url: string, request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Talks over a WebSocket, until there is a result.
   *
   * @throws {OutboundRefused} the address may not be reached; nothing was sent
   * @throws {OutboundFailed} the server can't be reached, or ends the conversation
   */
  converse<Result>(
    url: string,
    conversation: OutboundConversation<Result>,
  ): Promise<ConversationEnd<Result>>;
  /** Parses a URL, as far as it can be checked without resolving its name. @throws {OutboundRefused} */
  check(url: string): URL;
}

/** Resolves a name to its addresses. */
type Resolver = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Addresses that a client may reach besides the public Internet. Both may also be reached by plain HTTP. */
export interface HttpClientOptions {
  /** Networks in CIDR form. */
  readonly allow?: readonly string[];
  /** Names and addresses, as they stand in URLs: these hosts alone, whatever network they are in. */
  readonly allowHosts?: readonly string[];
  /** Default: the system's. */
  readonly resolver?: Resolver;
}

interface Rules {
  readonly networks: AddressRules;
  readonly hosts: ReadonlySet<string>;
}

const TIMEOUT_MS = 10_000;

/**
 * Opens a client.
 *
 * A name is resolved once. Every address that it has must be allowed, and the connection goes to one of exactly these, so
 * that a name that changes meanwhile (DNS rebinding) changes nothing. Redirects are not followed, and proxies of the
 * environment are not used.
 *
 * @throws {BadNetwork}
 */
export function openHttpClient(
  { allow = [], allowHosts = [], resolver = systemResolver }: HttpClientOptions = {},
): HttpClient {
  const rules: Rules = { networks: parseNetworks(allow), hosts: new Set(allowHosts.map(urlHost)) };

  /** Works with the addresses of a host within a time limit. @throws {OutboundRefused} @throws {OutboundFailed} */
  async function reach<T>(
    url: string,
    timeoutMs: number,
    ended: AbortSignal | undefined,
    work: (target: URL, addresses: readonly LookupAddress[], signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const target = parse(url, rules);
    const timeout = createTimeoutSignal(timeoutMs);
    const signal = ended ? AbortSignal.any([timeout, ended]) : timeout;
    try {
      const addresses = await untilAborted(signal, resolveHost(target, resolver));
      requireAllowed(target, addresses, rules);
      return await work(target, addresses, signal);
    } catch (error) {
      if (ended?.aborted) throw ended.reason;
      if (timeout.aborted) throw new OutboundFailed("timeout", `No response in ${timeoutMs} ms`);
      throw error;
    }
  }

  return {
    check: (url) => parse(url, rules),
    request: (url, { timeoutMs = TIMEOUT_MS, ...request }) =>
      reach(
        url,
        timeoutMs,
        request.signal,
        (target, addresses, signal) => exchange(target, addresses, { ...request, signal }),
      ),
    converse: (url, { timeoutMs = TIMEOUT_MS, ...conversation }) =>
      reach(
        url,
        timeoutMs,
        undefined,
        (target, addresses, signal) => converse(target, addresses, { ...conversation, signal }),
      ),
  };
}

/** Returns a host as URLs spell it: in lower case, addresses of version 6 in brackets. */
function urlHost(host: string): string {
  const text = `http://${isIP(host) === 6 ? `[${host}]` : host}`;
  return URL.canParse(text) ? new URL(text).hostname : host;
}

/** @throws {OutboundRefused} where the text alone shows that it may not be reached */
function parse(text: string, rules: Rules): URL {
  if (!URL.canParse(text)) throw new OutboundRefused("url", "This is not a URL");
  const url = new URL(text); // writes 2130706433, 0x7f.1 and 0177.0.0.1 as the address that they are
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new OutboundRefused("scheme", `Expected an https URL, and this one is ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new OutboundRefused("credentials", "A URL with a user name or password is not accepted");
  }
  const host = plainHost(url);
  const family = isIP(host);
  if (family !== 0) requireAllowed(url, [{ address: host, family }], rules);
  else if (/(^|\.)localhost\.?$/i.test(host)) {
    requireAllowed(url, [{ address: "127.0.0.1", family: 4 }], rules);
  }
  return url;
}

/** Every refused address gets the same message, so that it tells nothing about the network inside. */
function requireAllowed(
  url: URL,
  addresses: readonly LookupAddress[],
  { networks, hosts }: Rules,
): void {
  if (hosts.has(url.hostname)) return;
  const kinds = addresses.map(({ address }) => networks.classify(address));
  if (kinds.length === 0 || kinds.includes("refused")) {
    throw new OutboundRefused(
      "address",
      `${url.hostname} is no address of the public Internet, and no network that SEALOOP_OUTBOUND_ALLOW names`,
    );
  }
  if (url.protocol === "http:" && kinds.some((kind) => kind !== "allowed")) {
    throw new OutboundRefused(
      "plain_http",
      "Expected https: plain http goes to allowed networks alone",
    );
  }
}

function plainHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

async function resolveHost(url: URL, resolver: Resolver): Promise<readonly LookupAddress[]> {
  const host = plainHost(url);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return await resolver(host);
  } catch (cause) {
    throw new OutboundFailed("unresolvable", `${host} can't be resolved`, { cause });
  }
}

function systemResolver(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(
      hostname,
      { all: true, order: "verbatim" },
      (error, addresses) => error ? reject(error) : resolve(addresses),
    );
  });
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

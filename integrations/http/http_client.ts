import { lookup as resolve, type LookupAddress } from "node:dns";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { isIP } from "node:net";
import { createTimeoutSignal } from "../../contract/mod.ts";
import { type AddressRules, parseNetworks, plainAddress } from "./addresses.ts";

/** A request to somebody else's server. */
export interface OutboundRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "PATCH";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the name's resolution to the last byte, milliseconds, > 0; default 10,000. */
  readonly timeoutMs?: number;
  /** Most bytes of the answer's body, ≥ 0; default 256 KiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** What it answered. A redirect is an answer like any other: it is not followed. */
export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Speaks HTTP with servers that others name, and with none that it may not reach. */
export interface HttpClient {
  /**
   * @throws {OutboundRefused} the address may not be reached, and was not
   * @throws {OutboundFailed} it could not be reached, or did not answer as it should
   */
  request(url: string, request: OutboundRequest): Promise<OutboundResponse>;
  /** Whether a URL could be asked at all, as far as can be told without asking anybody. @throws {OutboundRefused} */
  check(url: string): URL;
}

/** A connection that must not be made. */
export class OutboundRefused extends Error {
  override readonly name = "OutboundRefused";
  /** @param code `scheme`, `credentials`, `address`, `plain_http` or `url` */
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** A request that was made, or tried, in vain. */
export class OutboundFailed extends Error {
  override readonly name = "OutboundFailed";
  /** @param code `unresolvable`, `unreachable`, `timeout`, `too_large`, `tls` or `protocol` */
  constructor(readonly code: string, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;

/** Resolves a name to its addresses; the system's resolver where it is left out. */
export type Resolver = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * Opens a client.
 *
 * A name is resolved once; every address that it has must be allowed, and the connection goes to one of exactly these,
 * so that a name that changes meanwhile (DNS rebinding) changes nothing. Redirects are not followed, proxies of the
 * environment not used, and plain HTTP goes to allowed networks alone.
 *
 * @param allow networks that may be reached though they are not public, in CIDR form
 */
export function openHttpClient(
  { allow = [], resolver = systemResolver }: {
    allow?: readonly string[];
    resolver?: Resolver;
  } = {},
): HttpClient {
  const rules = parseNetworks(allow);
  return {
    check: (url) => parse(url, rules),
    async request(url, { timeoutMs = TIMEOUT_MS, ...request }) {
      const target = parse(url, rules);
      const timeout = createTimeoutSignal(timeoutMs);
      const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
      try {
        const addresses = await untilAborted(signal, addressesOf(target, resolver));
        permit(target, addresses, rules);
        return await exchange(target, addresses, { ...request, signal });
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        if (timeout.aborted) throw new OutboundFailed("timeout", `No answer in ${timeoutMs} ms`);
        throw error;
      }
    },
  };
}

/** @throws {OutboundRefused} by what the text alone tells */
function parse(text: string, rules: AddressRules): URL {
  if (!URL.canParse(text)) throw new OutboundRefused("url", "This is not a URL");
  const url = new URL(text); // writes 2130706433, 0x7f.1 and 0177.0.0.1 as the address that they are
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new OutboundRefused("scheme", `Expected an https URL, and this one is ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new OutboundRefused("credentials", "A URL with a user name or password is not accepted");
  }
  const host = hostOf(url);
  const family = isIP(host);
  if (family !== 0) permit(url, [{ address: host, family }], rules);
  else if (/(^|\.)localhost\.?$/i.test(host)) {
    permit(url, [{ address: "127.0.0.1", family: 4 }], rules);
  }
  return url;
}

/** The same words for every refused address, so that nobody learns of the network inside what names mean there. */
function permit(url: URL, addresses: readonly LookupAddress[], rules: AddressRules): void {
  const kinds = addresses.map(({ address }) => rules.classify(address));
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

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

async function addressesOf(url: URL, resolver: Resolver): Promise<readonly LookupAddress[]> {
  const host = hostOf(url);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return await resolver(host);
  } catch (cause) {
    throw new OutboundFailed("unresolvable", `${host} can't be resolved`, { cause });
  }
}

function systemResolver(hostname: string): Promise<LookupAddress[]> {
  return new Promise((done, failed) => {
    resolve(
      hostname,
      { all: true, order: "verbatim" },
      (error, addresses) => error ? failed(error) : done(addresses),
    );
  });
}

type Exchange = Omit<OutboundRequest, "timeoutMs"> & { readonly signal: AbortSignal };

function exchange(
  url: URL,
  addresses: readonly LookupAddress[],
  { method, headers = {}, body, maxBytes = MAX_BYTES, signal }: Exchange,
): Promise<OutboundResponse> {
  return new Promise((done, failed) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      },
      agent: false, // a connection of its own, which no other address has been reached by
      lookup: pinned(addresses),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    });
    request.once("error", (error) => failed(failureOf(error)));
    request.once("response", (response) => {
      const { socket } = response;
      if (!isOneOf(addresses, socket)) {
        request.destroy();
        return failed(new OutboundRefused("address", "The connection went to another address"));
      }
      read(response, maxBytes).then(done, (error) => {
        request.destroy();
        failed(failureOf(error));
      });
    });
    request.end(body);
  });
}

/** Answers every look-up with the addresses that were checked. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, { all }, tell) => {
    const [first] = addresses;
    if (all) tell(null, [...addresses]);
    else tell(null, first!.address, first!.family);
  };
}

function isOneOf(addresses: readonly LookupAddress[], { remoteAddress }: Socket): boolean {
  const reached = plainAddress(remoteAddress ?? "");
  return addresses.some(({ address }) => plainAddress(address) === reached);
}

async function read(response: IncomingMessage, maxBytes: number): Promise<OutboundResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new OutboundFailed("too_large", `The answer has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  const headers = Object.entries(response.headers)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value ?? ""]);
  return {
    status: response.statusCode!,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  };
}

const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|EADDRNOTAVAIL)$/;

function failureOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof OutboundFailed) return error;
  const { code = "" } = error as { code?: string };
  if (UNREACHABLE.test(code) || error instanceof AggregateError) {
    return new OutboundFailed("unreachable", "The server can't be reached", { cause: error });
  }
  if (/CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|EPROTO|ERR_TLS/.test(code)) {
    return new OutboundFailed("tls", `TLS failed: ${code}`, { cause: error });
  }
  if (error.name === "AbortError") return error;
  return new OutboundFailed("protocol", "The server's answer is not HTTP", { cause: error });
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, failed) => {
    signal.addEventListener("abort", () => failed(signal.reason), { once: true });
    work.then(done, failed);
  });
}

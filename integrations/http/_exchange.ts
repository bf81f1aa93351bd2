import type { LookupAddress } from "node:dns";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { plainAddress } from "./addresses.ts";
import {
  OutboundFailed,
  OutboundRefused,
  type OutboundRequest,
  type OutboundResponse,
} from "./messages.ts";

const MAX_BYTES = 256 * 1024;
/** Maximum of a response's headers. */
export const MAX_HEADER_BYTES = 16 * 1024;
const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|EADDRNOTAVAIL)$/;
const TLS_ERROR = /CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|EPROTO|ERR_TLS/;

/** Sends one request to one of the addresses, and reads the response. */
export function exchange(
  url: URL,
  addresses: readonly LookupAddress[],
  request: Omit<OutboundRequest, "timeoutMs"> & { readonly signal: AbortSignal },
): Promise<OutboundResponse> {
  const { method, headers = {}, body, maxBytes = MAX_BYTES, ignoreBody, signal } = request;
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const sent = send(url, {
      method,
      headers: { ...headers, ...length },
      agent: false, // a new connection: a kept one may lead to another address
      lookup: pinnedLookup(addresses),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    });
    sent.once("error", (error) => reject(toFailure(error)));
    sent.once("response", (response) => {
      if (!isOneOf(addresses, response.socket)) {
        sent.destroy();
        return reject(new OutboundRefused("address", "The connection went to another address"));
      }
      if (ignoreBody) {
        resolve(toResponse(response, Buffer.alloc(0)));
        return void sent.destroy();
      }
      readBody(response, maxBytes).then(
        (bytes) => resolve(toResponse(response, bytes)),
        (error) => {
          sent.destroy();
          reject(toFailure(error));
        },
      );
    });
    sent.end(body);
  });
}

/** Answers every look-up of a name with the addresses that were checked. */
export function pinnedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first!.address, first!.family);
  };
}

/** Returns whether a connection went to one of the addresses. */
export function isOneOf(addresses: readonly LookupAddress[], { remoteAddress }: Socket): boolean {
  const reached = plainAddress(remoteAddress ?? "");
  return addresses.some(({ address }) => plainAddress(address) === reached);
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new OutboundFailed("too_large", `The response has more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Describes a response. */
export function toResponse(response: IncomingMessage, body: Buffer): OutboundResponse {
  const headers = Object.entries(response.headers)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value ?? ""]);
  return { status: response.statusCode!, headers: Object.fromEntries(headers), body };
}

/** Returns the failure that an error of a connection is; other errors stay. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof OutboundFailed) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  if (UNREACHABLE.test(code) || error instanceof AggregateError) {
    return new OutboundFailed("unreachable", "The server can't be reached", { cause: error });
  }
  if (TLS_ERROR.test(code)) {
    return new OutboundFailed("tls", `TLS failed: ${code}`, { cause: error });
  }
  if (error.name === "AbortError") return error;
  return new OutboundFailed("protocol", "The server's response is not HTTP", { cause: error });
}

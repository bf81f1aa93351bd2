import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type Koa from "koa";
import { BadSetting, type Settings } from "../../config.ts";
import { handleConnections } from "./connections.ts";

/** A listening server. */
export interface Listening {
  /** URL without a slash at the end. */
  readonly address: string;
  readonly port: number;
  /** Ends each connection with its next answer, so that clients go elsewhere; still accepts new ones. */
  retire(): void;
  /** Accepts nothing new, waits for responses, and closes idle connections. @param timeoutMs of the wait */
  close(timeoutMs?: number): Promise<void>;
}

/** Longer than the usual 60 s of load balancers, so that they are the ones to close an idle connection. */
const KEEP_ALIVE_MS = 75_000;
/** Timeouts of the TLS handshake or the headers, and of a whole request; and how often they are checked. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 1_000;
const CLOSE_TIMEOUT_MS = 7_000;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Returns true where clients use TLS, with the server's own certificate or a proxy's. */
export function isSecure(settings: Settings): boolean {
  return settings.SEALOOP_TLS_CERT !== undefined || settings.SEALOOP_TLS_PROXY;
}

/** Returns true for a loopback address or name. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Starts a server, over TLS where a certificate is set.
 *
 * @param port TCP port; 0: any free one
 * @throws {BadSetting} the address is not loopback, and neither a certificate nor a TLS proxy is named
 */
export async function serve<S>(app: Koa<S>, settings: Settings, port: number): Promise<Listening> {
  const { SEALOOP_BIND: host, SEALOOP_TLS_CERT: cert, SEALOOP_TLS_KEY: key } = settings;
  if (!isLoopback(host) && !isSecure(settings)) {
    throw new BadSetting(
      `Cannot listen on ${host} without TLS: set SEALOOP_TLS_CERT and SEALOOP_TLS_KEY, or ` +
        "SEALOOP_TLS_PROXY=true where a proxy in front ends TLS",
    );
  }
  const handler = app.callback();
  const timing = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  const server = cert && key
    ? createTlsServer({
      ...timing,
      handshakeTimeout: HEADERS_TIMEOUT_MS,
      cert: readFileSync(cert),
      key: readFileSync(key),
    }, handler)
    : createServer(timing, handler);
  const { drain, retire } = handleConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    address: `${cert ? "https" : "http"}://${name}:${bound}`,
    port: bound,
    retire,
    close: (timeoutMs = CLOSE_TIMEOUT_MS) => drain(timeoutMs),
  };
}

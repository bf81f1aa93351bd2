import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type Koa from "koa";
import { BadSetting, type Settings } from "../config.ts";
import { mindConnections } from "./_connections.ts";

/** A server that listens. */
export interface Listening {
  /** URL without a slash at the end. */
  readonly address: string;
  readonly port: number;
  /** Accepts nothing new, lets what runs finish, and ends what is idle. Bounded by `deadlineMs`. */
  close(deadlineMs?: number): Promise<void>;
}

/** Longer than the usual 60 s of load balancers, so that they and not we end an idle connection. */
const KEEP_ALIVE_MS = 75_000;
/** What a client has for a handshake and for its headers, and how often those are found who take longer. */
const HEADERS_MS = 10_000;
const LOOK_MS = 1_000;
const REQUEST_MS = 60_000;
const DRAIN_MS = 7_000;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Whether the settings have clients come over TLS, by our own certificate or a proxy's. */
export function isSecure(settings: Settings): boolean {
  return settings.SEALOOP_TLS_CERT !== undefined || settings.SEALOOP_TLS_PROXY;
}

/** Whether an address is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Listens, over TLS where a certificate is set.
 *
 * @param port TCP port; 0 takes a free one
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
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: LOOK_MS,
  };
  const server = cert && key
    ? createTlsServer({
      ...timing,
      handshakeTimeout: HEADERS_MS,
      cert: readFileSync(cert),
      key: readFileSync(key),
    }, handler)
    : createServer(timing, handler);
  const { drain } = mindConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    address: `${cert ? "https" : "http"}://${name}:${bound}`,
    port: bound,
    close: (deadlineMs = DRAIN_MS) => drain(deadlineMs),
  };
}

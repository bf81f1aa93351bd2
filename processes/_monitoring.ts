import { timingSafeEqual } from "node:crypto";
import { BadSetting, type Config, VERSION } from "../config.ts";
import { Problem } from "../contract/mod.ts";
import { PROCESS_NAMES } from "../contract/domain/mod.ts";
import { CONTENT_TYPE, renderMetrics, useProcessMetrics } from "../runtime/metrics/mod.ts";
import {
  createApp,
  isLoopback,
  isSecure,
  type Listening,
  type Log,
  serve,
  serverNames,
} from "../runtime/web/mod.ts";

/** Why a process would not do its work now. */
export interface Unreadiness {
  /** For programs: `starting`, `stopping`, `database`, `waits_for_temporal`, `not_polled`, … */
  readonly code: string;
  /** For people. */
  readonly says: string;
}

/** Paths that tell nothing private. */
const PROBES = new Set(["/livez", "/readyz"]);

/**
 * Serves, on a port of the process's own, what watches it: `/livez` (it answers), `/readyz` (200: it does its work; 503:
 * why not), both without a token, and `/metrics`.
 *
 * @param unready returns why it would not do its work now; empty: it would
 * @returns undefined: the settings name no port, or this is no process of the platform
 * @throws {BadSetting} the port is taken; or others could reach the metrics without a token, or without TLS
 */
export async function serveMonitoring(
  name: string,
  { settings }: Pick<Config, "settings">,
  log: Log,
  unready: () => Promise<readonly Unreadiness[]>,
): Promise<Listening | undefined> {
  const { SEALOOP_METRICS: first, SEALOOP_METRICS_BIND: bind, SEALOOP_METRICS_TOKEN: token } =
    settings;
  const place = PROCESS_NAMES.findIndex((one) => one === name);
  if (first === undefined || place < 0) return undefined;
  if (!isLoopback(bind) && token === undefined) {
    throw new BadSetting(`Cannot serve metrics on ${bind} to everybody: set SEALOOP_METRICS_TOKEN`);
  }
  useProcessMetrics(name, VERSION);
  const quiet = log.child({}, { level: "warn" }); // a line for each time they are read helps nobody
  const bound = { ...settings, SEALOOP_BIND: bind };
  const app = createApp({
    log: quiet,
    trustedHops: 0,
    secure: isSecure(settings),
    names: serverNames(bound),
    anyHost: PROBES,
  });
  app.use(async (ctx) => {
    if (ctx.method !== "GET") throw new Problem("NotFound", "Not found");
    if (ctx.path === "/livez") {
      ctx.body = { alive: true };
      return;
    }
    if (ctx.path === "/readyz") {
      const reasons = await unready();
      ctx.status = reasons.length === 0 ? 200 : 503;
      ctx.body = { ready: reasons.length === 0, reasons };
      return;
    }
    if (ctx.path !== "/metrics") throw new Problem("NotFound", "Not found");
    if (token !== undefined && !isSame(ctx.get("authorization"), `Bearer ${token}`)) {
      ctx.set("www-authenticate", "Bearer");
      throw new Problem("Unauthenticated", "The metrics need the token");
    }
    ctx.type = CONTENT_TYPE;
    ctx.body = await renderMetrics();
  });
  const port = first + place;
  const listening = await serve(app, bound, port)
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      throw new BadSetting(
        `Port ${port}, of the ${name}'s metrics, is taken: set another SEALOOP_METRICS for this process`,
      );
    });
  log.info({ address: `${listening.address}/metrics` }, "metrics");
  return listening;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

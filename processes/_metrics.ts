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

/**
 * Serves the metrics of a process at `/metrics`, on a port of its own.
 *
 * @returns undefined: the settings name no port, this is no process of the platform, or another program has the port, such
 * as a second worker on this host
 * @throws {BadSetting} others could reach them without a token, or without TLS
 */
export async function serveMetrics(
  name: string,
  { settings }: Pick<Config, "settings">,
  log: Log,
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
  });
  app.use(async (ctx) => {
    if (ctx.path !== "/metrics" || ctx.method !== "GET") throw new Problem("NotFound", "Not found");
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
      log.warn({ port }, "Another program has the port of the metrics; this process serves none");
    });
  if (!listening) return undefined;
  log.info({ address: `${listening.address}/metrics` }, "metrics");
  return listening;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

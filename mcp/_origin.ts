import type { Context, Next } from "koa";
import { Problem } from "../contract/mod.ts";

/** Names of this machine for itself, with any port. */
const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Keeps web pages of elsewhere from a server that listens on loopback: a name of theirs may resolve to this machine
 * (DNS rebinding), but then the browser still says the name in `Host`, and the page's address in `Origin`.
 *
 * Programs that are no browsers send no `Origin`, and need none.
 */
export function refuseForeignPages(ctx: Context, next: Next): Promise<void> {
  if (!LOOPBACK.test(ctx.req.headers.host ?? "")) {
    throw new Problem("Forbidden", "Reach this server as localhost, 127.0.0.1 or [::1]");
  }
  const origin = ctx.req.headers.origin;
  if (origin !== undefined && !isLoopback(origin)) {
    throw new Problem("Forbidden", "Pages of other origins may not use this server");
  }
  return next();
}

function isLoopback(origin: string): boolean {
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  return host !== undefined && LOOPBACK.test(host);
}

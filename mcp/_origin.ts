import type { Context, Next } from "koa";
import { Problem } from "../contract/mod.ts";

/** Names of this machine for itself, with any port. */
const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/** By which names clients reach the server. */
export interface Names {
  /** Whether clients reach it on this machine alone, by a loopback name. */
  readonly loopback: boolean;
  /** Its public address, where it has one. */
  readonly url?: string;
}

/**
 * Keeps web pages of elsewhere out: a name of theirs may resolve to this machine (DNS rebinding), but then the browser
 * still says the name in `Host`, and the page's address in `Origin`.
 *
 * Programs that are no browsers send no `Origin`, and need none. Where no public address is set, any name is taken, as
 * a proxy in front may have several, and no page at all.
 */
export function refuseForeignPages(
  { loopback, url }: Names,
): (ctx: Context, next: Next) => Promise<void> {
  const host = url === undefined ? undefined : new URL(url).host;
  const isOurs = (name: string) => name.toLowerCase() === host || (loopback && LOOPBACK.test(name));
  const takesAny = !loopback && host === undefined;
  const names = [...(loopback ? ["localhost", "127.0.0.1", "[::1]"] : []), ...(host ? [host] : [])];
  return (ctx, next) => {
    const { host: asked = "", origin } = ctx.req.headers;
    const probed = !loopback && ctx.path === "/health"; // a balancer looks by the machine's address
    if (!takesAny && !probed && !isOurs(asked)) {
      throw new Problem("Forbidden", `Reach this server as ${names.join(", ")}`);
    }
    if (origin !== undefined && !isOurs(/^https?:\/\/([^/]+)$/i.exec(origin)?.[1] ?? "")) {
      throw new Problem("Forbidden", "Pages of other origins may not use this server");
    }
    return next();
  };
}

import type { Context, Next } from "koa";
import { Problem } from "../contract/mod.ts";

/** Loopback names of this machine, with any port. */
const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/** The names by which clients reach the server. */
export interface ServerNames {
  /** True where clients reach it from this machine alone, by a loopback name. */
  readonly loopback: boolean;
  /** Its public address, where it has one. */
  readonly url?: string;
}

/**
 * Refuses requests of web pages from other origins. A name of theirs may resolve to this machine (DNS rebinding), but
 * the browser still sends that name in `Host` and the page's address in `Origin`.
 *
 * Programs that are no browsers send no `Origin`. Without a public address any `Host` is accepted, as a proxy in front
 * may have several names, and no page at all.
 */
export function refuseForeignPages(
  { loopback, url }: ServerNames,
): (ctx: Context, next: Next) => Promise<void> {
  const publicHost = url === undefined ? undefined : new URL(url).host;
  const isOwnName = (name: string) =>
    name.toLowerCase() === publicHost || (loopback && LOOPBACK.test(name));
  const acceptsAnyHost = !loopback && publicHost === undefined;
  const names = [
    ...(loopback ? ["localhost", "127.0.0.1", "[::1]"] : []),
    ...(publicHost ? [publicHost] : []),
  ];
  return (ctx, next) => {
    const { host = "", origin } = ctx.req.headers;
    const isProbe = !loopback && ctx.path === "/health"; // load balancers use the machine's address
    if (!acceptsAnyHost && !isProbe && !isOwnName(host)) {
      throw new Problem("Forbidden", `Reach this server as ${names.join(", ")}`);
    }
    if (origin !== undefined && !isOwnName(/^https?:\/\/([^/]+)$/i.exec(origin)?.[1] ?? "")) {
      throw new Problem("Forbidden", "Pages of other origins may not use this server");
    }
    return next();
  };
}

import type { Context, Next } from "koa";
import { Problem } from "../../contract/mod.ts";
import {
  isLoopbackName,
  isOwnHost,
  isOwnOrigin,
  parseHost,
  type ServerNames,
} from "./server_names.ts";

/** Options of the checks against pages of other origins. */
export interface ForeignPageOptions {
  readonly names: ServerNames;
  /** True where clients use TLS. */
  readonly secure: boolean;
  /**
   * Requests of pages of other origins that are served: `read`, those of GET, HEAD and OPTIONS; `local`, those of pages of
   * this machine to a loopback name. Default: none.
   */
  readonly foreignPages?: "read" | "local";
  /** Paths that are served whatever host a request names, or none: load balancers and kubelets name addresses. */
  readonly anyHost?: ReadonlySet<string>;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Creates the middleware that refuses a foreign `Host`, and requests that a page of another origin sends.
 *
 * A page's name may resolve to this machine (DNS rebinding), but the browser still sends that name in `Host`. A form of
 * another page can post without being asked, but the browser then sends that page's address in `Origin`, or `null`, or, in
 * older browsers, only `Sec-Fetch-Site`. Programs send none of these.
 */
export function refuseForeignPages(
  options: ForeignPageOptions,
): (ctx: Context, next: Next) => Promise<void> {
  const own = [...new Set(["localhost", "127.0.0.1", "[::1]", ...options.names.hosts])].join(", ");
  return (ctx, next) => {
    if (!options.anyHost?.has(ctx.path) && !isOwnHost(ctx.req, options.names)) {
      throw new Problem(
        "Forbidden",
        `Cannot serve this host: reach the server as ${own}; SEALOOP_HOSTS names others`,
      );
    }
    if (!isServed(ctx, options)) {
      throw new Problem(
        "Forbidden",
        "Cannot do this for a page of another origin: call from a program, or from the server's own pages",
      );
    }
    return next();
  };
}

function isServed({ req, method }: Context, options: ForeignPageOptions): boolean {
  const { foreignPages } = options;
  if (foreignPages === "read" && SAFE_METHODS.has(method)) return true;
  const { host = "", origin, "sec-fetch-site": site } = req.headers;
  if (origin === undefined) return site !== "cross-site" && site !== "same-site";
  if (isOwnOrigin(origin, req, options)) return true;
  return foreignPages === "local" && isLoopbackName(parseHost(host)) &&
    isLoopbackName(parseHost(/^https?:\/\/([^/]+)$/i.exec(origin)?.[1] ?? ""));
}

import { randomUUID } from "node:crypto";
import Koa, { type Context, type Next } from "koa";
import { asProblem, Problem } from "../../contract/mod.ts";
import { getClientAddress } from "./address.ts";
import { linger, refuseDeclaredSize } from "./body.ts";
import { type ForeignPageOptions, refuseForeignPages } from "./foreign_pages.ts";
import type { Log } from "./log.ts";
import { cacheReads } from "./reads.ts";

/** The state of a request. */
export interface RequestState {
  requestId: string;
  /** Client address, as seen through the trusted proxies. */
  address: string;
  /** Public id of the key for the log, once it is known. */
  keyId?: string | null;
}

/** Options of an application. */
export interface AppOptions extends ForeignPageOptions {
  readonly log: Log;
  /** Trusted proxies in front, which append to X-Forwarded-For, ≥ 0. */
  readonly trustedHops: number;
  /** True where pages of any origin may read the answers. Only for data that is public without a key. */
  readonly openCors?: boolean;
  /** Returns the maximum of bytes of a request's body at a path; default: {@linkcode MAX_BODY}. */
  readonly maxBytes?: (path: string) => number | undefined;
  /** True to add ETags and compression. Only for public data, as the compressed length may reveal secrets. */
  readonly cacheReads?: boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Creates a Koa application in which every answer has a request id and safe headers, every error is JSON, and every
 * request is a line in the log, without keys, queries or bodies. Requests for other hosts and of foreign pages are refused.
 */
export function createApp(options: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.silent = true; // errors are logged below, with their request
  app.use(identifyRequests(options));
  app.use(answerErrors(options));
  app.use(refuseForeignPages(options));
  if (options.cacheReads) {
    for (const middleware of cacheReads()) app.use(middleware);
  }
  return app;
}

function identifyRequests({ log, trustedHops, secure, openCors }: AppOptions) {
  return async (ctx: Context, next: Next) => {
    const startedMs = performance.now();
    const sentId = ctx.get("x-request-id");
    const state = ctx.state as RequestState;
    state.requestId = REQUEST_ID.test(sentId) ? sentId : randomUUID();
    state.address = getClientAddress(ctx.req, trustedHops);
    ctx.set({
      "x-request-id": state.requestId,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      ...(secure ? { "strict-transport-security": "max-age=31536000" } : {}),
      ...(openCors ? { "access-control-allow-origin": "*" } : {}),
    });
    try {
      await next();
    } finally {
      log.info({
        request_id: state.requestId,
        method: ctx.method,
        route: ctx._matchedRoute ?? null,
        status: ctx.status,
        ms: Math.round((performance.now() - startedMs) * 10) / 10,
        key_id: state.keyId ?? null,
      }, "request");
    }
  };
}

function answerErrors({ log, maxBytes }: AppOptions) {
  const logProblem = createProblemLog(log);
  return async (ctx: Context, next: Next) => {
    try {
      refuseDeclaredSize(ctx.req, maxBytes?.(ctx.path));
      await next();
      if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) {
        throw new Problem("NotFound", `There is nothing at ${ctx.method} ${ctx.path}`);
      }
    } catch (error) {
      const problem = asProblem(error);
      logProblem(problem, (ctx.state as RequestState).requestId);
      if (ctx.headerSent) return void ctx.res.destroy();
      ctx.status = problem.rule.status === 499 ? 400 : problem.rule.status; // 499 is no registered status
      ctx.body = problem.body;
      ctx.set({ ...problem.extra.headers });
      if (problem.name === "TooLarge") await linger(ctx.req);
    }
  };
}

/**
 * Creates the function that logs failures of the service. A missing setting is no failure, and is logged once; nor is what is
 * not ready yet, as the caller is to try again.
 */
function createProblemLog(log: Log) {
  const loggedSettings = new Set<string>();
  return (problem: Problem, requestId: string) => {
    const { name, message, rule, extra } = problem;
    if (rule.status < 500) return;
    if (name === "Unavailable" && extra.cause === undefined) {
      return log.warn({ request_id: requestId }, message);
    }
    if (name !== "NotConfigured") {
      return log.error({ request_id: requestId, err: extra.cause ?? problem }, message);
    }
    if (loggedSettings.has(message)) return;
    loggedSettings.add(message);
    log.warn({ request_id: requestId }, message);
  };
}

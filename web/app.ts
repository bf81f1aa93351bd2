import { randomUUID } from "node:crypto";
import Koa, { type Context, type Next } from "koa";
import { asProblem, Problem } from "../contract/mod.ts";
import { clientAddress } from "./address.ts";
import { linger, refuseDeclaredSize } from "./body.ts";
import type { Log } from "./log.ts";
import { cheapReads } from "./reads.ts";

/** What the shell knows of a request; handlers may add the key's id for the log. */
export interface RequestState {
  requestId: string;
  /** Client address, as seen through the trusted proxies. */
  address: string;
  /** Public id of the key, once it is known. */
  keyId?: string | null;
}

/** How a server's shell is set up. */
export interface AppOptions {
  readonly log: Log;
  /** Proxies in front whose X-Forwarded-For entries are believed, ≥ 0. */
  readonly trustedHops: number;
  /** Whether clients come over TLS. */
  readonly secure: boolean;
  /** Whether any origin may read the answers. Only for what is public without a key. */
  readonly openCors?: boolean;
  /** Returns the maximum of bytes of a request's body at a path; undefined: {@linkcode MAX_BODY}. */
  readonly maxBytes?: (path: string) => number | undefined;
  /** Whether answers carry ETags and are compressed. Only for what is public: compression can betray secrets. */
  readonly cheapReads?: boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Makes a Koa application in which every answer has a request id and safe headers, every error is JSON, and every
 * request is one line of the log, without keys, queries or bodies.
 */
export function createApp(options: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>();
  app.silent = true; // errors are logged below, with their request
  app.use(identify(options));
  app.use(answerErrors(options));
  if (options.cheapReads) { for (const step of cheapReads()) app.use(step); }
  return app;
}

function identify({ log, trustedHops, secure, openCors }: AppOptions) {
  return async (ctx: Context, next: Next) => {
    const started = performance.now();
    const sent = ctx.get("x-request-id");
    const state = ctx.state as RequestState;
    state.requestId = REQUEST_ID.test(sent) ? sent : randomUUID();
    state.address = clientAddress(ctx.req, trustedHops);
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
        ms: Math.round((performance.now() - started) * 10) / 10,
        key_id: state.keyId ?? null,
      }, "request");
    }
  };
}

function answerErrors({ log, maxBytes }: AppOptions) {
  return async (ctx: Context, next: Next) => {
    try {
      refuseDeclaredSize(ctx.req, maxBytes?.(ctx.path));
      await next();
      if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) {
        throw new Problem("NotFound", `There is nothing at ${ctx.method} ${ctx.path}`);
      }
    } catch (error) {
      const problem = asProblem(error);
      const { requestId } = ctx.state as RequestState;
      if (problem.rule.status >= 500) {
        log.error({ request_id: requestId, err: problem.extra.cause ?? problem }, problem.message);
      }
      if (ctx.headerSent) return void ctx.res.destroy();
      ctx.status = problem.rule.status === 499 ? 400 : problem.rule.status;
      ctx.body = problem.body;
      ctx.set({ ...problem.extra.headers });
      if (problem.name === "TooLarge") await linger(ctx.req);
    }
  };
}

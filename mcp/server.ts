import Router from "@koa/router";
import type Koa from "koa";
import type { Context, Next } from "koa";
import type { Invoke, Operation } from "../contract/mod.ts";
import { SERVICE, TOOL_SERVER_VERSION } from "../domain/mod.ts";
import type { ToolServerAuth } from "../calls/mod.ts";
import { type AppOptions, createApp, refuseMethods, type RequestState } from "../web/mod.ts";
import type { Sender } from "./_auth.ts";
import { settledWithin, trackCalls } from "./_calls_under_way.ts";
import { refuseForeignPages, type ServerNames } from "./_origin.ts";
import { bindA2a, MAX_A2A_BODY, type TaskParts } from "./a2a/mod.ts";
import { createHandlers } from "./handlers.ts";
import { createHttpRoute } from "./http_routes.ts";
import { createHttpSessions } from "./http_sessions.ts";
import { serveStatelessClients } from "./protocol/mod.ts";
import { createResourceChanges } from "./resource_changes.ts";
import { SESSION_TIMING, type SessionTiming } from "./session_timing.ts";
import { createSseRoutes } from "./sse_routes.ts";
import { createSseSessions } from "./sse_sessions.ts";
import { bindTools, describeTools, selectTools, type Tools } from "./tools.ts";
import type { FindInjection } from "./untrusted.ts";

/** The parts of a tool server. */
export interface ToolServerParts<C> extends ServerNames {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly auth: ToolServerAuth;
  readonly http: AppOptions;
  /** Requests per minute and key, shown by `/health`. `auth` and `invoke` enforce them. */
  readonly limits: { readonly perMinute: number; readonly simulatePerMinute: number };
  readonly findInjection: FindInjection;
  /** Default: A2A is not served. */
  readonly a2a?: TaskParts<C>;
  /** Public address of the gateway, without a slash at the end, for the agent card. */
  readonly gatewayUrl?: string;
  /** Default: {@linkcode SESSION_TIMING}. */
  readonly timing?: SessionTiming;
}

/** A tool server, ready to be served. */
export interface ToolServer {
  readonly app: Koa<RequestState>;
  /** Notifies the clients that have subscribed to a resource of its change. */
  notifyChange(uri: string): void;
  /** Returns true where a client has subscribed to any resource. */
  hasSubscribers(): boolean;
  /** Opens no more sessions, waits for calls under way, and ends every stream. @param timeoutMs of the wait, ≥ 0 */
  close(timeoutMs?: number): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5_000;

/** Creates the application of a tool server: MCP at `/mcp`, `/sse` and `/messages`; A2A; `/health` and `/mcp/tools`. */
export function createToolServer<C>(parts: ToolServerParts<C>): ToolServer {
  const { operations, invoke, auth, findInjection, timing = SESSION_TIMING } = parts;
  const { heartbeatMs } = timing;
  const tools = bindTools(operations);
  const sseSessions = createSseSessions(timing);
  const httpSessions = createHttpSessions(timing);
  const statelessClients = serveStatelessClients((err) => parts.http.log.warn({ err }, "session"));
  const changes = createResourceChanges();
  const calls = new Set<Promise<unknown>>();
  const isClosing = () => sseSessions.isClosing;
  const handlersOf = createHandlers({
    operations,
    invoke,
    auth,
    log: parts.http.log,
    findInjection,
    onResourceChange: changes.listen,
  });
  const handlers = (sender: Sender, { query }: Context) =>
    trackCalls(handlersOf(selectTools(tools, query.tools), sender), calls);

  const router = new Router<RequestState>();
  const sse = createSseRoutes({ sessions: sseSessions, auth, handlers });
  router.get("sse", "/sse", sse.openStream);
  router.post("messages", "/messages", sse.receiveMessage);
  const http = createHttpRoute({
    sessions: httpSessions,
    statelessClients,
    auth,
    heartbeatMs,
    isClosing,
    handlers,
  });
  router.register("/mcp", ["GET", "POST", "DELETE"], http, { name: "mcp" });
  bindToolList(router, tools);
  bindHealth(router, parts.limits, tools, () => sseSessions.size + httpSessions.size);
  const a2a = parts.a2a && bindA2a(router, {
    ...parts.a2a,
    tools,
    invoke,
    auth,
    log: parts.http.log,
    findInjection,
    url: parts.url,
    gatewayUrl: parts.gatewayUrl,
    heartbeatMs,
    isClosing,
  });

  const app = createApp({
    ...parts.http,
    maxBytes: (path) => A2A_PATH.test(path) ? MAX_A2A_BODY : undefined,
  });
  if (a2a) app.use(rewriteRootPost);
  app.use(refuseForeignPages(parts));
  app.use(router.routes());
  app.use(refuseMethods(router, "MCP is at /mcp, A2A at /a2a"));
  return {
    app,
    notifyChange(uri) {
      changes.notify(uri);
      statelessClients.notifyChange(uri);
    },
    hasSubscribers: () => changes.listenerCount > 0 || statelessClients.hasListeners(),
    async close(timeoutMs = CLOSE_TIMEOUT_MS) {
      a2a?.close();
      const closed = Promise.all([sseSessions.close(timeoutMs), httpSessions.close(timeoutMs)]);
      await settledWithin([...calls], timeoutMs); // calls without a session, too
      await closed;
      await statelessClients.close();
    },
  };
}

function bindToolList<C>(router: Router<RequestState>, tools: Tools<C>): void {
  router.get("registry", "/mcp/tools", (ctx) => {
    ctx.body = describeTools(selectTools(tools, ctx.query.tools));
  });
}

function bindHealth<C>(
  router: Router<RequestState>,
  limits: ToolServerParts<C>["limits"],
  tools: Tools<C>,
  sessionCount: () => number,
): void {
  router.get("health", "/health", (ctx) => {
    ctx.body = {
      status: "ok",
      service: SERVICE.toolServer,
      version: TOOL_SERVER_VERSION,
      transport: "http+sse",
      tools: tools.size,
      auth_required: true,
      rate_limit_per_min: limits.perMinute,
      rate_limit_simulate_per_min: limits.simulatePerMinute,
      sessions: sessionCount(),
    };
  });
}

const A2A_PATH = /^\/(?:a2a\/?)?$/;

/** Serves A2A at `/` too, for clients that know nothing but the server's address. Nothing else takes a POST there. */
function rewriteRootPost(ctx: Context, next: Next): Promise<void> {
  if (ctx.method === "POST" && ctx.path === "/") ctx.path = "/a2a";
  return next();
}

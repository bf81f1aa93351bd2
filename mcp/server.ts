import Router from "@koa/router";
import type Koa from "koa";
import type { Context, Next } from "koa";
import type { ToolServerAuth } from "../calls/mod.ts";
import type { Invoke, Operation } from "../contract/mod.ts";
import { SERVICE, TOOL_SERVER_VERSION } from "../contract/domain/mod.ts";
import { type AppOptions, createApp, type RequestState, serveRoutes } from "../runtime/web/mod.ts";
import { bindA2a, MAX_A2A_BODY, type TaskParts } from "./a2a/mod.ts";
import { bindMcp } from "./mcp_routes.ts";
import { bindProtectedResource } from "./protected_resource.ts";
import { SESSION_TIMING, type SessionTiming } from "./session_timing.ts";
import { bindTools, describeTools, ownTools, selectTools, type Tools } from "./tools.ts";
import type { MakeSafe } from "./untrusted.ts";

/** The parts of a tool server. */
export interface ToolServerParts<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly auth: ToolServerAuth;
  readonly http: AppOptions;
  /** Public address of the server, where it has one, for the agent card. */
  readonly url?: string;
  /** @throws {Problem} calls would not work now; `/health` answers that */
  checkReady(): Promise<void>;
  /** Requests per minute and key, shown by `/health`. `auth` and `invoke` enforce them. */
  readonly limits: { readonly perMinute: number; readonly simulatePerMinute: number };
  readonly makeSafe: MakeSafe;
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
  /** Notifies the clients that have subscribed to a resource of its change. @param tenant undefined: it is public */
  notifyChange(uri: string, tenant?: string): void;
  /** Returns the tenants of the clients that have subscribed to any resource. */
  subscribedTenants(): ReadonlySet<string>;
  /** Opens no more sessions, waits for calls under way, and ends every stream. @param timeoutMs of the wait, ≥ 0 */
  close(timeoutMs?: number): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5_000;

/** Creates the application of a tool server: MCP at `/mcp`, `/sse` and `/messages`; A2A; `/health` and `/mcp/tools`. */
export function createToolServer<C>(parts: ToolServerParts<C>): ToolServer {
  const { operations, invoke, auth, http, makeSafe, timing = SESSION_TIMING } = parts;
  const { log } = http;
  const tools = bindTools(operations);
  const router = new Router<RequestState>();
  const mcp = bindMcp(router, { operations, invoke, auth, log, makeSafe, tools, timing });
  const a2a = parts.a2a && bindA2a(router, {
    ...parts.a2a,
    tools: ownTools(tools),
    invoke,
    auth,
    log,
    makeSafe,
    url: parts.url,
    gatewayUrl: parts.gatewayUrl,
    heartbeatMs: timing.heartbeatMs,
    isClosing: mcp.isClosing,
  });
  bindProtectedResource(router, auth);
  bindToolList(router, tools);
  bindHealth(router, parts, ownTools(tools), mcp.sessionCount);

  const app = createApp({
    ...http,
    foreignPages: "local",
    maxBytes: (path) => A2A_PATH.test(path) ? MAX_A2A_BODY : undefined,
  });
  if (a2a) app.use(rewriteRootPost);
  app.use(serveRoutes(router, "MCP is at /mcp, A2A at /a2a"));
  return {
    app,
    notifyChange: mcp.notifyChange,
    subscribedTenants: mcp.subscribedTenants,
    async close(timeoutMs = CLOSE_TIMEOUT_MS) {
      a2a?.close();
      await mcp.close(timeoutMs);
    },
  };
}

function bindToolList<C>(router: Router<RequestState>, tools: Tools<C>): void {
  const all = JSON.stringify(describeTools(ownTools(tools))); // takes a third of the time of a request
  router.get("registry", "/mcp/tools", (ctx) => {
    const selection = ctx.query.tools;
    ctx.type = "application/json; charset=utf-8";
    ctx.body = selection ? JSON.stringify(describeTools(selectTools(tools, selection))) : all;
  });
}

function bindHealth<C>(
  router: Router<RequestState>,
  { limits, checkReady }: ToolServerParts<C>,
  tools: Tools<C>,
  sessionCount: () => number,
): void {
  router.get("health", "/health", async (ctx) => {
    await checkReady();
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

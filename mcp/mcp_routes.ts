import type Router from "@koa/router";
import type { Context } from "koa";
import type { RequestState } from "../runtime/web/mod.ts";
import { settledWithin, trackCalls } from "./_calls_under_way.ts";
import type { HandlerParts } from "./_handler_parts.ts";
import type { Sender } from "./auth.ts";
import { createHandlers } from "./handlers.ts";
import { createHttpRoute } from "./http_routes.ts";
import { createHttpSessions } from "./http_sessions.ts";
import { serveStatelessClients } from "./protocol/mod.ts";
import { createResourceChanges } from "./resource_changes.ts";
import type { SessionTiming } from "./session_timing.ts";
import { createSseRoutes } from "./sse_routes.ts";
import { createSseSessions } from "./sse_sessions.ts";
import { nameTools, selectTools, type Tools } from "./tools.ts";

/** The parts that MCP works with. */
export interface McpParts<C> extends Omit<HandlerParts<C>, "onResourceChange"> {
  readonly tools: Tools<C>;
  readonly timing: SessionTiming;
}

/** The running routes of MCP. */
export interface McpRoutes {
  /** Returns the number of open sessions. */
  sessionCount(): number;
  /** Returns true once {@linkcode close} was called. */
  isClosing(): boolean;
  /** Notifies the clients that have subscribed to a resource of its change. @param tenant undefined: it is public */
  notifyChange(uri: string, tenant?: string): void;
  /** Returns the tenants of the clients that have subscribed to any resource. */
  subscribedTenants(): ReadonlySet<string>;
  /** Opens no more sessions, waits for calls under way, and ends every stream. @param timeoutMs of the wait, ≥ 0 */
  close(timeoutMs: number): Promise<void>;
}

/** Binds `/mcp`, and `/sse` with `/messages`. */
export function bindMcp<C>(router: Router<RequestState>, parts: McpParts<C>): McpRoutes {
  const { auth, log, tools, timing } = parts;
  const sseSessions = createSseSessions(timing);
  const httpSessions = createHttpSessions(timing);
  const statelessClients = serveStatelessClients((err) => log.warn({ err }, "session"));
  const changes = createResourceChanges();
  const calls = new Set<Promise<unknown>>();
  const isClosing = () => sseSessions.isClosing;
  const handlersOf = createHandlers({ ...parts, onResourceChange: changes.listen });
  const handlers = (sender: Sender, { query }: Context) =>
    trackCalls(
      handlersOf(nameTools(selectTools(tools, query.tools), query.names), sender),
      calls,
    );

  const sse = createSseRoutes({ sessions: sseSessions, auth, handlers });
  bindExactly(router, "sse", "/sse", ["GET"], sse.openStream);
  router.post("messages", "/messages", sse.receiveMessage);
  const http = createHttpRoute({
    sessions: httpSessions,
    statelessClients,
    auth,
    heartbeatMs: timing.heartbeatMs,
    isClosing,
    handlers,
  });
  bindExactly(router, "mcp", "/mcp", ["GET", "POST", "DELETE"], http);

  return {
    sessionCount: () => sseSessions.size + httpSessions.size,
    isClosing,
    notifyChange(uri, tenant) {
      changes.notify(uri, tenant);
      statelessClients.notifyChange(uri, tenant);
    },
    subscribedTenants: () => new Set([...changes.tenants, ...statelessClients.tenants()]),
    async close(timeoutMs) {
      const closed = Promise.all([sseSessions.close(timeoutMs), httpSessions.close(timeoutMs)]);
      await settledWithin([...calls], timeoutMs); // calls without a session, too
      await closed;
      await statelessClients.close();
    },
  };
}

/** Binds a route to these methods. Routers handle HEAD as GET, which here would open a stream that nobody reads. */
function bindExactly(
  router: Router<RequestState>,
  name: string,
  path: string,
  methods: readonly string[],
  handle: (ctx: Context) => Promise<void>,
): void {
  router.register(path, [...methods], handle, { name });
  router.stack.at(-1)!.methods = [...methods];
}

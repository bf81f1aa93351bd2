import Router from "@koa/router";
import type Koa from "koa";
import type { Context, Next } from "koa";
import type { Invoke, Operation } from "../contract/mod.ts";
import { SERVICE, TOOL_SERVER_VERSION } from "../domain/mod.ts";
import { type AppOptions, createApp, refuseMethods, type RequestState } from "../web/mod.ts";
import type { Sender } from "./_caller.ts";
import { type Names, refuseForeignPages } from "./_origin.ts";
import { createAnswers } from "./answers.ts";
import { openChanges } from "./changes.ts";
import { createA2aDoor } from "./a2a/door.ts";
import { MOST_READ } from "./a2a/envelope.ts";
import { createHttpSessions } from "./http_sessions.ts";
import { serveCurrentClients } from "./protocol.ts";
import { counted, createSessions, PACE, type Pace, settledWithin } from "./sessions.ts";
import { createSseDoors } from "./sse.ts";
import { createHttpDoor } from "./streamable.ts";
import { bindTools, chooseTools, registry } from "./tools.ts";
import type { FindInjection } from "./untrusted.ts";
import type { ToolServerAuth } from "../calls/mod.ts";
import type { TaskWatch } from "../calls/tasks/mod.ts";

/** What a tool server consists of. */
export interface ToolServerParts<C> extends Names {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly entrance: ToolServerAuth;
  readonly shell: AppOptions;
  /** Requests a minute of a key, for `/health`: the gates are what holds them. */
  readonly limits: { readonly perMinute: number; readonly simulatePerMinute: number };
  /** Looks through what comes from outside. */
  readonly findInjection: FindInjection;
  /** Tasks of A2A; where it is left out, that protocol is not spoken. */
  readonly tasks?: TaskWatch;
  /** Public address of the gateway, without a slash at the end, for the agent card. */
  readonly gatewayUrl?: string;
  /** {@linkcode PACE} where it is left out. */
  readonly pace?: Pace;
}

/** A tool server, ready to be served. */
export interface ToolServer {
  readonly app: Koa<RequestState>;
  /** Tells those who follow it that a resource has changed. */
  changed(uri: string): void;
  /** Whether anybody follows any. */
  followed(): boolean;
  /**
   * Opens no session any more, answers the calls under way, and ends every stream.
   *
   * @param deadlineMs milliseconds that calls are waited for, ≥ 0; default 5,000
   */
  close(deadlineMs?: number): Promise<void>;
}

const DRAIN_MS = 5_000;

/** Makes the application of a tool server: `/mcp`, `/sse` with `/messages`, `/health` and `/mcp/tools`. */
export function createToolServer<C>(parts: ToolServerParts<C>): ToolServer {
  const { operations, invoke, entrance, shell, limits, findInjection, pace = PACE } = parts;
  const tools = bindTools(operations);
  const described = JSON.stringify(registry(tools));
  const sessions = createSessions(pace);
  const httpSessions = createHttpSessions(pace);
  const current = serveCurrentClients((err) => shell.log.warn({ err }, "session"));
  const changes = openChanges();
  const answers = createAnswers({
    ...{ operations, invoke, entrance, log: shell.log, findInjection },
    onChange: changes.onChange,
  });
  const underWay = new Set<Promise<unknown>>();
  const handlers = (sender: Sender, { query }: Context) => {
    const all = answers(chooseTools(tools, query.tools), sender);
    return { ...all, ...counted(all, underWay) };
  };
  const sse = createSseDoors({ sessions, entrance, handlers });
  const http = createHttpDoor({
    sessions: httpSessions,
    current,
    entrance,
    handlers,
    beatMs: pace.beatMs,
    closing: () => sessions.closing,
  });
  const router = new Router<RequestState>();
  router.get("sse", "/sse", sse.openStream);
  router.post("messages", "/messages", sse.takeMessage);
  router.register("/mcp", ["GET", "POST", "DELETE"], http, { name: "mcp" });
  router.get("registry", "/mcp/tools", (ctx) => {
    ctx.type = "application/json; charset=utf-8";
    const { tools: chosen } = ctx.query;
    ctx.body = chosen ? JSON.stringify(registry(chooseTools(tools, chosen))) : described;
  });
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
      sessions: sessions.size + httpSessions.size,
    };
  });
  const a2a = parts.tasks && createA2aDoor({
    ...{ tools, invoke, entrance, tasks: parts.tasks, log: shell.log, beatMs: pace.beatMs },
    findInjection,
    ...{ url: parts.url, gatewayUrl: parts.gatewayUrl },
    closing: () => sessions.closing,
  });
  if (a2a) {
    router.post("a2a", "/a2a", a2a.answer);
    router.get("a2a-card", "/a2a", a2a.card);
    router.get("own-card", "/a2a/card", a2a.ownCard);
    router.get("extended-card", "/agent/authenticatedExtendedCard", a2a.ownCard);
    for (const base of ["", "/a2a"]) {
      router.get("agent-card", `${base}/.well-known/agent-card.json`, a2a.card);
      router.get("agent", `${base}/.well-known/agent.json`, a2a.card);
    }
  }
  const app = createApp({
    ...shell,
    mostBytes: (path) => AT_A2A.test(path) ? MOST_READ : undefined,
  });
  if (a2a) app.use(reachedByAddressAlone);
  app.use(refuseForeignPages(parts));
  app.use(router.routes());
  app.use(refuseMethods(router, "MCP is at /mcp, A2A at /a2a"));
  return {
    app,
    changed(uri) {
      changes.changed(uri);
      current.changed(uri);
    },
    followed: () => changes.followers > 0 || current.listening(),
    async close(deadlineMs = DRAIN_MS) {
      a2a?.close();
      const closed = Promise.all([sessions.close(deadlineMs), httpSessions.close(deadlineMs)]);
      await settledWithin([...underWay], deadlineMs); // those of no session, too
      await closed;
      await current.close();
    },
  };
}

/** Where A2A is spoken. */
const AT_A2A = /^\/(?:a2a\/?)?$/;

/** A2A where a client knows nothing but the server's address, and posts there; nothing else is posted to it. */
function reachedByAddressAlone(ctx: Context, next: Next): Promise<void> {
  if (ctx.method === "POST" && ctx.path === "/") ctx.path = "/a2a";
  return next();
}

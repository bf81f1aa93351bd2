import Router from "@koa/router";
import type Koa from "koa";
import type { Context, Next } from "koa";
import {
  type Caller,
  type Invoke,
  type Operation,
  Problem,
  PRODUCT,
  SERVICE,
  TOOL_SERVER_VERSION,
} from "../contract/mod.ts";
import type { Entrance } from "../operations/mod.ts";
import { type AppOptions, createApp, type RequestState } from "../web/mod.ts";
import { callTool } from "./call.ts";
import { readMessage, refused, wantsAnswer } from "./_message.ts";
import { NotAMessage } from "./protocol.ts";
import { refuseForeignPages } from "./_origin.ts";
import { createSessions, PACE, type Pace } from "./sessions.ts";
import { bindTools, registry } from "./tools.ts";

/** What a tool server consists of. */
export interface ToolServerParts<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly entrance: Entrance;
  readonly shell: AppOptions;
  readonly limits: { readonly perMinute: number; readonly simulatePerMinute: number };
  /** Whether clients reach it on this machine alone, by a loopback name. */
  readonly loopback: boolean;
  readonly pace?: Pace;
}

/** A tool server, ready to be served. */
export interface ToolServer {
  readonly app: Koa<RequestState>;
  /** Opens no session any more, answers the calls under way, and ends every stream. */
  close(deadlineMs?: number): Promise<void>;
}

/** Most streams that one key may have open at a time. */
const MOST_SESSIONS = 100;
const DRAIN_MS = 5_000;
const INSTRUCTIONS =
  "Tools of an IT operations platform. Every call is sealed in a public ledger of receipts; its receipt's id is in " +
  "the result's _meta. An error says what to do next.";

/** Makes the application of a tool server. */
export function createToolServer<C>(parts: ToolServerParts<C>): ToolServer {
  const { operations, invoke, entrance, shell, limits, loopback, pace = PACE } = parts;
  const tools = bindTools(operations);
  const described = JSON.stringify(registry(tools));
  const sessions = createSessions(pace);
  let draining = false;

  const handlers = (caller: Caller, credential: string) => ({
    name: PRODUCT,
    version: TOOL_SERVER_VERSION,
    instructions: INSTRUCTIONS,
    list: () =>
      [...tools.values()].filter(({ scopes }) => scopes.includes(caller.scope))
        .map(({ description }) => description),
    call: (call: Parameters<typeof callTool>[1]) => {
      const tool = tools.get(call.name);
      return tool && callTool(tool, call, credential, invoke, (problem, requestId) => {
        const err = problem.extra.cause ?? problem;
        shell.log.error({ request_id: requestId, tool: call.name, err }, problem.message);
      });
    },
    failed: (err: Error) => shell.log.warn({ key_id: caller.keyId, err }, "session"),
  });

  async function openStream(ctx: Context): Promise<void> {
    if (ctx.method === "HEAD") throw new Problem("MethodNotAllowed", "A stream is opened by GET");
    const { caller, credential } = await identify(ctx, entrance);
    refuseWhile(draining);
    await entrance.admit(caller);
    if (sessions.count(caller.keyId!) >= MOST_SESSIONS) {
      throw new Problem(
        "RateLimited",
        `This key has ${MOST_SESSIONS} streams open; close one before you open another`,
      );
    }
    const { address } = ctx.state as RequestState;
    ctx.respond = false;
    await sessions.open(ctx.res, {
      keyId: caller.keyId!,
      handlers: handlers(caller, credential),
      stillValid: () =>
        entrance.authenticate(credential, address).then(() => true, (error) => !isRefusal(error)),
    });
  }

  async function takeMessage(ctx: Context): Promise<void> {
    const { caller } = await identify(ctx, entrance);
    const session = sessions.find(String(ctx.query.sessionId ?? ""));
    if (!session) {
      throw new Problem("NotFound", "There is no open session of this sessionId; open GET /sse");
    }
    if (session.keyId !== caller.keyId) {
      throw new Problem("Forbidden", "This session was opened with another key");
    }
    const message = await readMessage(ctx);
    if (message === undefined) return;
    if (wantsAnswer(message)) {
      refuseWhile(draining);
      if (message.method !== "tools/call") await entrance.admit(caller);
    }
    const { requestId, address } = ctx.state as RequestState;
    try {
      await session.receive(message, { requestId, address });
    } catch (error) {
      if (!(error instanceof NotAMessage)) throw error;
      return refused(ctx, -32600, error.message);
    }
    ctx.status = 202;
    ctx.body = "Accepted";
  }

  const app = createApp(shell);
  const router = new Router<RequestState>();
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
      sessions: sessions.size,
    };
  });
  router.get("registry", "/mcp/tools", (ctx) => {
    ctx.type = "application/json; charset=utf-8";
    ctx.body = described;
  });
  router.get("sse", "/sse", openStream);
  router.post("messages", "/messages", takeMessage);
  if (loopback) app.use(refuseForeignPages);
  app.use(router.routes());
  app.use(router.allowedMethods({
    throw: true,
    methodNotAllowed: () => new Problem("MethodNotAllowed", "This path has other methods"),
  }));
  return {
    app,
    async close(deadlineMs = DRAIN_MS) {
      draining = true;
      await sessions.close(deadlineMs);
    },
  };
}

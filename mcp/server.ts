import Router from "@koa/router";
import type Koa from "koa";
import type { Context } from "koa";
import {
  type Caller,
  type Invoke,
  type Operation,
  Problem,
  SERVICE,
  TOOL_SERVER_VERSION,
} from "../contract/mod.ts";
import { type AppOptions, createApp, readJson, type RequestState } from "../web/mod.ts";
import { openSession, type Session } from "./protocol.ts";
import { toolsOf } from "./tools.ts";

/** What the tool server consists of. */
export interface ToolServerOptions<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly shell: AppOptions;
  /** Finds out who holds a key. @throws {Problem} `Unauthenticated` */
  readonly authenticate: (credential: string, address: string) => Promise<Caller>;
  /** Counts a message that is no tool call. @throws {Problem} `RateLimited` */
  readonly admit: (caller: Caller) => Promise<void>;
  /** Calls a minute, for `/health`. */
  readonly limits: { readonly tools: number; readonly simulate: number };
}

/** The tool server's application, and the way to end its sessions. */
export interface ToolServer {
  readonly app: Koa<RequestState>;
  closeSessions(): Promise<void>;
}

interface Open {
  readonly session: Session;
  readonly keyId: string;
}

const KEEP_ALIVE_MS = 25_000;
const LOCAL_NAME = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

/** Makes the tool server: `/sse` and `/messages`, `/health`, and the registry at `/mcp/tools`. */
export function createToolServer<C>(options: ToolServerOptions<C>): ToolServer {
  const { operations, invoke, shell, authenticate, admit, limits } = options;
  const tools = toolsOf(operations);
  const sessions = new Map<string, Open>();
  const router = new Router<RequestState>();

  router.get("/health", (ctx) => {
    ctx.body = {
      status: "ok",
      service: SERVICE.toolServer,
      version: TOOL_SERVER_VERSION,
      transport: "http+sse",
      tools: tools.size,
      auth_required: true,
      rate_limit_per_min: limits.tools,
      rate_limit_simulate_per_min: limits.simulate,
      sessions: sessions.size,
    };
  });
  router.get("/mcp/tools", (ctx) => {
    ctx.body = {
      tools: [...tools.values()].map(({ description, scopes, operation }) => ({
        ...description,
        group: operation.group,
        effect: operation.effect,
        scopes,
      })),
    };
  });

  router.get("/sse", async (ctx) => {
    const { caller, credential } = await whoIs(ctx);
    ctx.respond = false;
    ctx.res.statusCode = 200; // the SDK writes to the bare response
    const { address } = ctx.state;
    const beat = setInterval(() => ctx.res.write(": keep-alive\n\n"), KEEP_ALIVE_MS);
    const session: Session = await openSession(ctx.res, "/messages", {
      tools,
      invoke,
      owner: { credential, scope: caller.scope, address },
      onClose: () => {
        clearInterval(beat);
        if (session) sessions.delete(session.id);
      },
    });
    sessions.set(session.id, { session, keyId: caller.keyId! });
  });

  router.post("/messages", async (ctx) => {
    const { caller } = await whoIs(ctx);
    const id = ctx.query.sessionId;
    const open = typeof id === "string" ? sessions.get(id) : undefined;
    // A session of another's key is answered like one that is not there: an id proves nothing.
    if (!open || open.keyId !== caller.keyId) {
      throw new Problem("NotFound", "There is no such session of this key; open one with GET /sse");
    }
    const message = await readJson(ctx);
    if (methodOf(message) !== "tools/call") await admit(caller);
    try {
      await open.session.take(message);
    } catch {
      ctx.status = 400;
      ctx.body = { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid Request" } };
      return;
    }
    ctx.status = 202;
    ctx.body = "Accepted";
  });

  async function whoIs(ctx: Context): Promise<{ caller: Caller; credential: string }> {
    if (!shell.secure) refuseRebinding(ctx);
    const credential = bearerOf(ctx) ??
      (typeof ctx.query.api_key === "string" ? ctx.query.api_key : undefined);
    const state = ctx.state as RequestState;
    try {
      if (!credential) {
        throw new Problem("Unauthenticated", "This needs an API key: Authorization: Bearer <key>");
      }
      const caller = await authenticate(credential, state.address);
      state.keyId = caller.keyId;
      return { caller, credential };
    } catch (error) {
      if (!(error instanceof Problem) || error.name !== "Unauthenticated") throw error;
      throw new Problem("Unauthenticated", error.message, {
        headers: { "www-authenticate": "Bearer" },
      });
    }
  }

  const app = createApp(shell);
  app.use(router.routes());
  return {
    app,
    async closeSessions() {
      await Promise.allSettled([...sessions.values()].map(({ session }) => session.close()));
    },
  };
}

/** A browser that was led to this machine by another name sends that name, or its page's origin. */
function refuseRebinding(ctx: Context): void {
  const { origin, host } = ctx.req.headers;
  const local = LOCAL_NAME.test(`${ctx.req.socket.localAddress?.replace("::ffff:", "")}`);
  const foreign = origin !== undefined && !LOCAL_NAME.test(origin.replace(/^https?:\/\//, ""));
  if (local && (foreign || !LOCAL_NAME.test(host ?? ""))) {
    throw new Problem(
      "Forbidden",
      "This server is reached by its local name only, and not from a page of elsewhere",
    );
  }
}

function bearerOf(ctx: Context): string | undefined {
  return /^Bearer +(\S+)$/i.exec(ctx.get("authorization"))?.[1];
}

function methodOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "method" in message
    ? message.method
    : undefined;
}

import type { Context } from "koa";
import type { ToolServerAuth } from "../calls/mod.ts";
import { Problem } from "../contract/mod.ts";
import { createDisconnectSignal, type RequestState } from "../runtime/web/mod.ts";
import { isCountedByOperation } from "./_counting.ts";
import { authenticate, isValid, refuseOtherOwner, type Sender, stoppingProblem } from "./auth.ts";
import { sendWebResponse, toWebRequest } from "./http.ts";
import type { HttpSessions, KeySession } from "./http_sessions.ts";
import { asksForProgress, isInitialize, readMessages, requestsOf } from "./json_rpc.ts";
import { type HttpExchange, openHttpSession, type StatelessClients } from "./protocol/mod.ts";
import type { RequestHandlers } from "./requests.ts";

/** The parts that Streamable HTTP works with. */
export interface HttpParts {
  readonly sessions: HttpSessions;
  readonly statelessClients: StatelessClients;
  readonly auth: ToolServerAuth;
  /** Between two checks of a stream's key, > 0. */
  readonly heartbeatMs: number;
  /** Returns true once nothing new may begin. */
  isClosing(): boolean;
  /** Returns the handlers of a key's requests at this address. @throws {Problem} the address names unknown tools */
  handlers(sender: Sender, ctx: Context): RequestHandlers;
}

/**
 * Creates the route `/mcp`. A request of a stateless revision says so itself. Of the others, `initialize` opens a
 * session, a request that names a session goes to it, and a request that names none is handled alone.
 */
export function createHttpRoute(parts: HttpParts): (ctx: Context) => Promise<void> {
  const { sessions, statelessClients, auth } = parts;
  return async (ctx) => {
    const sender = await authenticate(ctx, auth);
    const session = findSession(ctx, sessions, sender);
    if (ctx.method !== "POST") return await handleSession(parts, ctx, session, sender);
    const body = await readMessages(ctx);
    if (body === undefined) return;
    const requests = requestsOf(body);
    for (const request of requests) {
      if (!isCountedByOperation(request)) await auth.count(sender.caller);
    }
    if (requests.length > 0 && parts.isClosing()) throw stoppingProblem();
    const disconnected = createDisconnectSignal(ctx);
    const exchange = toExchange(ctx, sender, body, disconnected);
    if (isInitialize(body)) exchange.request.headers.delete("mcp-protocol-version"); // not agreed on yet
    if (statelessClients.accepts(exchange)) {
      const response = await statelessClients.handle(exchange, parts.handlers(sender, ctx));
      return await sendWhileKeyIsValid(parts, ctx, response, sender);
    }
    if (session) {
      const response = await session.handle(exchange);
      return await sendWhileKeyIsValid(parts, ctx, response, sender, session);
    }
    if (isInitialize(body)) return await openSession(parts, ctx, exchange, sender);
    await handleAlone(parts, ctx, exchange, sender, disconnected);
  };
}

async function openSession(parts: HttpParts, ctx: Context, exchange: HttpExchange, sender: Sender) {
  const session = await parts.sessions.open(sender.caller, parts.handlers(sender, ctx));
  const response = await session.handle(exchange);
  if (!response.headers.has("mcp-session-id")) await session.close();
  await sendWebResponse(ctx, response);
}

/** Handles GET, the stream of a session's notifications, and DELETE, its end. */
async function handleSession(
  parts: HttpParts,
  ctx: Context,
  session: KeySession | undefined,
  sender: Sender,
) {
  if (!session) {
    const message = `Send the header mcp-session-id with ${ctx.method}, or POST a message`;
    throw new Problem("MethodNotAllowed", message, { headers: { allow: "POST" } });
  }
  if (ctx.method === "GET") {
    await parts.auth.count(sender.caller);
    if (parts.isClosing()) throw stoppingProblem();
  }
  const response = await session.handle(toExchange(ctx, sender, undefined));
  if (ctx.method === "DELETE" && response.ok) await session.close();
  await sendWhileKeyIsValid(parts, ctx, response, sender, session);
}

/** Sends a response, and disconnects when the key is no longer valid. */
async function sendWhileKeyIsValid(
  { auth, heartbeatMs }: HttpParts,
  ctx: Context,
  response: Response,
  { credential }: Sender,
  session?: KeySession,
) {
  const { address } = ctx.state as RequestState;
  const stopReading = session?.startReading();
  const timer = setInterval(async () => {
    if (!await isValid(auth, credential, address)) ctx.res.destroy();
  }, heartbeatMs).unref();
  try {
    await sendWebResponse(ctx, response);
  } finally {
    clearInterval(timer);
    stopReading?.();
  }
}

/** Handles a request without a session. It is cancelled when the client leaves. */
async function handleAlone(
  parts: HttpParts,
  ctx: Context,
  exchange: HttpExchange,
  sender: Sender,
  disconnected: AbortSignal,
) {
  const session = await openHttpSession(parts.handlers(sender, ctx), {
    json: !requestsOf(exchange.body as object).some(asksForProgress),
  });
  const left = new Promise<undefined>((resolve) => {
    disconnected.addEventListener("abort", () => resolve(undefined));
  });
  try {
    const response = await Promise.race([session.handle(exchange), left]);
    if (response) await sendWebResponse(ctx, response);
    else ctx.respond = false;
  } finally {
    await session.close();
  }
}

function toExchange(
  ctx: Context,
  { credential }: Sender,
  body: unknown,
  signal?: AbortSignal,
): HttpExchange {
  const { requestId, address } = ctx.state as RequestState;
  return { requestId, address, credential, body, request: toWebRequest(ctx, signal) };
}

function findSession(ctx: Context, sessions: HttpSessions, sender: Sender): KeySession | undefined {
  const id = ctx.get("mcp-session-id");
  if (id === "") return undefined;
  const session = sessions.find(id);
  if (!session) {
    throw new Problem("NotFound", "There is no session of this mcp-session-id; send initialize");
  }
  refuseOtherOwner(session, sender);
  return session;
}

import type { Context } from "koa";
import { Problem } from "../contract/mod.ts";
import type { RequestState } from "../web/mod.ts";
import { identify, isValid, refuseForeign, type Sender, stopping } from "./_caller.ts";
import {
  asksForProgress,
  isCountedLater,
  isHandshake,
  readMessages,
  requestsOf,
} from "./_message.ts";
import { give, untilGone, webRequest } from "./_web.ts";
import type { Handlers } from "./handlers.ts";
import type { HeldSession, HttpSessions } from "./http_sessions.ts";
import { type CurrentClients, type Exchange, openHttpSession } from "./protocol.ts";
import type { ToolServerAuth } from "../calls/mod.ts";

/** What the door of Streamable HTTP works with. */
export interface HttpParts {
  readonly sessions: HttpSessions;
  readonly current: CurrentClients;
  readonly entrance: ToolServerAuth;
  /** Milliseconds between two looks whether the key of a stream is still one, > 0. */
  readonly beatMs: number;
  /** Whether nothing new is to be begun. */
  closing(): boolean;
  /** What answers a key's requests at this address. @throws {Problem} the address names tools that there are not */
  handlers(sender: Sender, ctx: Context): Handlers;
}

/**
 * Makes the door at `/mcp`. A request of a revision without a handshake says so itself. Of the others, `initialize`
 * opens a session, what names a session goes to it, and what names none is answered by itself.
 */
export function createHttpDoor(parts: HttpParts): (ctx: Context) => Promise<void> {
  const { sessions, current, entrance } = parts;
  return async (ctx) => {
    const sender = await identify(ctx, entrance);
    const session = sessionOf(ctx, sessions, sender);
    if (ctx.method !== "POST") return await attend(parts, ctx, session, sender);
    const body = await readMessages(ctx);
    if (body === undefined) return;
    const requests = requestsOf(body);
    for (const request of requests) {
      if (!isCountedLater(request)) await entrance.admit(sender.caller);
    }
    if (requests.length > 0 && parts.closing()) throw stopping();
    const gone = untilGone(ctx);
    const exchange = exchangeOf(ctx, body, gone);
    if (current.speak(exchange)) {
      const response = await current.answer(exchange, parts.handlers(sender, ctx));
      return await attended(parts, ctx, response, sender);
    }
    if (session) {
      const response = await session.answer(exchange);
      return await attended(parts, ctx, response, sender, session);
    }
    if (isHandshake(body)) return await shakeHands(parts, ctx, exchange, sender);
    await answerAlone(parts, ctx, exchange, sender, gone);
  };
}

async function shakeHands(parts: HttpParts, ctx: Context, exchange: Exchange, sender: Sender) {
  const session = await parts.sessions.open(sender.caller.keyId, parts.handlers(sender, ctx));
  const response = await session.answer(exchange);
  if (!response.headers.has("mcp-session-id")) await session.close();
  await give(ctx, response);
}

/** A stream for what happens in the session, or the end of it. */
async function attend(
  parts: HttpParts,
  ctx: Context,
  session: HeldSession | undefined,
  sender: Sender,
) {
  if (!session) {
    const message = `Send the header mcp-session-id with ${ctx.method}, or POST a message`;
    throw new Problem("MethodNotAllowed", message, { headers: { allow: "POST" } });
  }
  if (ctx.method === "GET") {
    await parts.entrance.admit(sender.caller);
    if (parts.closing()) throw stopping();
  }
  const response = await session.answer(exchangeOf(ctx, undefined));
  if (ctx.method === "DELETE" && response.ok) await session.close();
  await attended(parts, ctx, response, sender, session);
}

/** Gives an answer, and ends it when its key is no longer one. */
async function attended(
  { entrance, beatMs }: HttpParts,
  ctx: Context,
  response: Response,
  { credential }: Sender,
  session?: HeldSession,
) {
  const { address } = ctx.state as RequestState;
  const done = session?.reading();
  const timer = setInterval(async () => {
    if (!await isValid(entrance, credential, address)) ctx.res.destroy();
  }, beatMs).unref();
  try {
    await give(ctx, response);
  } finally {
    clearInterval(timer);
    done?.();
  }
}

async function answerAlone(
  parts: HttpParts,
  ctx: Context,
  exchange: Exchange,
  sender: Sender,
  gone: AbortSignal,
) {
  const session = await openHttpSession(parts.handlers(sender, ctx), {
    json: !requestsOf(exchange.body as object).some(asksForProgress),
  });
  const left = new Promise<undefined>((resolve) => {
    gone.addEventListener("abort", () => resolve(undefined));
  });
  try {
    const response = await Promise.race([session.answer(exchange), left]);
    if (response) await give(ctx, response);
    else ctx.respond = false;
  } finally {
    await session.close(); // and so, where the client has left, what it asked for is cancelled
  }
}

function exchangeOf(ctx: Context, body: unknown, gone?: AbortSignal): Exchange {
  const { requestId, address } = ctx.state as RequestState;
  return { requestId, address, body, request: webRequest(ctx, gone) };
}

function sessionOf(ctx: Context, sessions: HttpSessions, sender: Sender): HeldSession | undefined {
  const id = ctx.get("mcp-session-id");
  if (id === "") return undefined;
  const session = sessions.find(id);
  if (!session) {
    throw new Problem("NotFound", "There is no session of this mcp-session-id; send initialize");
  }
  refuseForeign(session, sender);
  return session;
}

import type { Context } from "koa";
import { Problem } from "../contract/mod.ts";
import type { RequestState } from "../web/mod.ts";
import { identify, isValid, refuseForeign, type Sender, stopping } from "./_caller.ts";
import { INVALID_REQUEST, isCountedLater, readMessage, refused, wantsAnswer } from "./_message.ts";
import { workFirst } from "./_web.ts";
import type { Handlers } from "./handlers.ts";
import { NotAMessage } from "./protocol.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { ToolServerAuth } from "../calls/mod.ts";

/** What the two doors of SSE work with. */
export interface SseParts {
  readonly sessions: Sessions;
  readonly entrance: ToolServerAuth;
  /** What answers a key's requests at this address. @throws {Problem} the address names tools that there are not */
  handlers(sender: Sender, ctx: Context): Handlers;
}

/** The doors of SSE, as handlers of HTTP requests. */
export interface SseDoors {
  /** `GET /sse`: opens a session. The key is checked before the first byte of the stream. */
  openStream(ctx: Context): Promise<void>;
  /** `POST /messages?sessionId=…`: takes a message of the session's own key. */
  takeMessage(ctx: Context): Promise<void>;
}

/** Most streams that one key may have open at a time. */
const MOST_SESSIONS = 100;

/** Puts the doors together. */
export function createSseDoors(parts: SseParts): SseDoors {
  const { sessions, entrance } = parts;
  return {
    async openStream(ctx) {
      if (ctx.method === "HEAD") throw onlyGet();
      const sender = await identify(ctx, entrance);
      const { caller, credential } = sender;
      await entrance.admit(caller);
      if (sessions.closing) throw stopping();
      if (sessions.count(caller.keyId) >= MOST_SESSIONS) throw tooManyStreams();
      const { address } = ctx.state as RequestState;
      const handlers = parts.handlers(sender, ctx);
      ctx.respond = false;
      await sessions.open(ctx.res, {
        keyId: caller.keyId,
        handlers,
        stillValid: () => isValid(entrance, credential, address),
      });
    },
    async takeMessage(ctx) {
      const sender = await identify(ctx, entrance);
      const session = sessionOf(ctx, sessions, sender);
      const message = await readMessage(ctx);
      if (message === undefined) return;
      if (wantsAnswer(message)) {
        if (!isCountedLater(message)) await entrance.admit(sender.caller); // a call is counted on its way
        if (sessions.closing) throw stopping();
      }
      await deliver(ctx, session, message);
    },
  };
}

function sessionOf(ctx: Context, sessions: Sessions, sender: Sender): Session {
  const session = sessions.find(String(ctx.query.sessionId ?? ""));
  if (!session) {
    throw new Problem("NotFound", "There is no open session of this sessionId; GET /sse opens one");
  }
  refuseForeign(session, sender);
  return session;
}

async function deliver(ctx: Context, session: Session, message: object): Promise<void> {
  const { requestId, address } = ctx.state as RequestState;
  try {
    await session.receive(message, { requestId, address });
    await workFirst();
    ctx.status = 202;
    ctx.body = "Accepted";
  } catch (error) {
    if (!(error instanceof NotAMessage)) throw error;
    refused(ctx, INVALID_REQUEST, error.message);
  }
}

const tooManyStreams = () =>
  new Problem(
    "RateLimited",
    `This key has ${MOST_SESSIONS} streams open; close one before opening another`,
  );

/** Routers answer HEAD by the handler of GET, which here would leave a stream behind that nobody reads. */
const onlyGet = () =>
  new Problem("MethodNotAllowed", "A stream is opened with GET", { headers: { allow: "GET" } });

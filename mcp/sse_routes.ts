import { setImmediate as nextTurn } from "node:timers/promises";
import type { Context } from "koa";
import type { ToolServerAuth } from "../calls/mod.ts";
import { Problem } from "../contract/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";
import { isCountedByOperation } from "./_counting.ts";
import { authenticate, isValid, refuseOtherOwner, type Sender, stoppingProblem } from "./auth.ts";
import { isRequest, JSON_RPC, readMessage, refuseMessage } from "./json_rpc.ts";
import { InvalidMessage } from "./protocol/mod.ts";
import type { RequestHandlers } from "./requests.ts";
import type { SseSession, SseSessions } from "./sse_sessions.ts";

/** The parts that the routes of SSE work with. */
export interface SseParts {
  readonly sessions: SseSessions;
  readonly auth: ToolServerAuth;
  /** Returns the handlers of a key's requests at this address. @throws {Problem} the address names unknown tools */
  handlers(sender: Sender, ctx: Context): RequestHandlers;
}

/** The routes of SSE. */
export interface SseRoutes {
  /** `GET /sse`: opens a session. The key is checked before the first byte of the stream. */
  openStream(ctx: Context): Promise<void>;
  /** `POST /messages?sessionId=…`: receives a message from the session's key. */
  receiveMessage(ctx: Context): Promise<void>;
}

/** Maximum of open streams per key. */
const MAX_STREAMS = 100;

/** Creates the routes. */
export function createSseRoutes({ sessions, auth, handlers }: SseParts): SseRoutes {
  return {
    async openStream(ctx) {
      const sender = await authenticate(ctx, auth);
      const { caller, credential } = sender;
      await auth.count(caller);
      if (sessions.isClosing) throw stoppingProblem();
      if (sessions.count(caller.keyId) >= MAX_STREAMS) throw tooManyStreams();
      const { address } = ctx.state as RequestState;
      const owner = {
        keyId: caller.keyId,
        scope: caller.scope,
        handlers: handlers(sender, ctx),
        isKeyValid: () => isValid(auth, credential, address),
      };
      ctx.respond = false;
      await sessions.open(ctx.res, owner);
    },
    async receiveMessage(ctx) {
      const sender = await authenticate(ctx, auth);
      const session = findSession(ctx, sessions, sender);
      const message = await readMessage(ctx);
      if (message === undefined) return;
      if (isRequest(message)) {
        if (!isCountedByOperation(message)) await auth.count(sender.caller);
        if (sessions.isClosing) throw stoppingProblem();
      }
      await deliver(ctx, session, sender, message);
    },
  };
}

function findSession(ctx: Context, sessions: SseSessions, sender: Sender): SseSession {
  const session = sessions.find(String(ctx.query.sessionId ?? ""));
  if (!session) {
    throw new Problem("NotFound", "There is no open session of this sessionId; GET /sse opens one");
  }
  refuseOtherOwner(session, sender);
  return session;
}

async function deliver(
  ctx: Context,
  session: SseSession,
  { credential }: Sender,
  message: object,
): Promise<void> {
  const { requestId, address } = ctx.state as RequestState;
  try {
    await session.receive(message, { requestId, address, credential });
    await yieldToCalls();
    ctx.status = 202;
    ctx.body = "Accepted";
  } catch (error) {
    if (!(error instanceof InvalidMessage)) throw error;
    refuseMessage(ctx, JSON_RPC.invalidRequest, error.message);
  }
}

/**
 * Waits two turns of the event loop, so that the call just begun sends its queries before this process sends `202`.
 * Without it 16 calls at a time take 15 to 20 % longer.
 */
async function yieldToCalls(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

const tooManyStreams = () =>
  new Problem(
    "RateLimited",
    `This key has ${MAX_STREAMS} streams open; close one before opening another`,
  );

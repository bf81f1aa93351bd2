import type { Context } from "koa";
import {
  type Caller,
  type Invoke,
  Problem,
  PRODUCT,
  TOOL_SERVER_VERSION,
} from "../contract/mod.ts";
import type { Entrance } from "../operations/mod.ts";
import type { Log, RequestState } from "../web/mod.ts";
import { INVALID_REQUEST, readMessage, refused, wantsAnswer } from "./_message.ts";
import { callTool } from "./call.ts";
import { type Handlers, NotAMessage } from "./protocol.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { Tools } from "./tools.ts";

/** What the two doors of the protocol work with. */
export interface DoorParts<C> {
  readonly tools: Tools<C>;
  readonly sessions: Sessions;
  readonly invoke: Invoke<C>;
  readonly entrance: Entrance;
  readonly log: Log;
}

/** The doors of the protocol, as handlers of HTTP requests. */
export interface Doors {
  /** `GET /sse`: opens a session. The key is checked before the first byte of the stream. */
  openStream(ctx: Context): Promise<void>;
  /** `POST /messages?sessionId=…`: takes a message of the session's own key. */
  takeMessage(ctx: Context): Promise<void>;
}

/** Most streams that one key may have open at a time. */
const MOST_SESSIONS = 100;

const INSTRUCTIONS =
  "Tools of an IT operations platform. Every call is sealed in a public ledger of receipts; its receipt's id is in " +
  "the result's _meta. An error says what to do next.";

/** Puts the doors together. */
export function createDoors<C>(parts: DoorParts<C>): Doors {
  const { sessions, entrance } = parts;
  return {
    async openStream(ctx) {
      if (ctx.method === "HEAD") throw onlyGet();
      const { caller, credential } = await identify(ctx, entrance);
      await entrance.admit(caller);
      if (sessions.closing) throw stopping();
      if (sessions.count(caller.keyId!) >= MOST_SESSIONS) throw tooManyStreams();
      const { address } = ctx.state as RequestState;
      ctx.respond = false;
      await sessions.open(ctx.res, {
        keyId: caller.keyId!,
        handlers: handlers(parts, caller, credential),
        stillValid: () => isValid(entrance, credential, address),
      });
    },
    async takeMessage(ctx) {
      const { caller } = await identify(ctx, entrance);
      const session = sessionOf(ctx, sessions, caller);
      const message = await readMessage(ctx);
      if (message === undefined) return;
      if (wantsAnswer(message)) {
        if (message.method !== "tools/call") await entrance.admit(caller); // a call is counted on its way
        if (sessions.closing) throw stopping();
      }
      await deliver(ctx, session, message);
    },
  };
}

function handlers<C>(parts: DoorParts<C>, caller: Caller, credential: string): Handlers {
  const { tools, invoke, log } = parts;
  return {
    name: PRODUCT,
    version: TOOL_SERVER_VERSION,
    instructions: INSTRUCTIONS,
    list: () =>
      [...tools.values()].filter(({ scopes }) => scopes.includes(caller.scope))
        .map(({ description }) => description),
    call: (call) => {
      const tool = tools.get(call.name);
      return tool && callTool(tool, call, credential, invoke, (problem) => {
        const err = problem.extra.cause ?? problem;
        log.error({ request_id: call.requestId, tool: call.name, err }, problem.message);
      });
    },
    failed: (err) => log.warn({ key_id: caller.keyId, err }, "session"),
  };
}

/** @throws {Problem} `Unauthenticated`, told in HTTP's way too */
async function identify(ctx: Context, entrance: Entrance) {
  const { api_key } = ctx.query;
  const credential = /^Bearer +(\S+)$/i.exec(ctx.get("authorization"))?.[1] ??
    (typeof api_key === "string" && api_key !== "" ? api_key : undefined);
  const state = ctx.state as RequestState;
  try {
    const caller = await entrance.authenticate(credential, state.address);
    state.keyId = caller.keyId;
    return { caller, credential: credential! };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const headers = { "www-authenticate": "Bearer" };
    throw new Problem("Unauthenticated", error.message, { headers });
  }
}

const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.name === "Unauthenticated";

/** While the database is away nobody can say that a key is wrong, and a stream goes on. */
async function isValid(entrance: Entrance, credential: string, address: string): Promise<boolean> {
  try {
    await entrance.authenticate(credential, address);
    return true;
  } catch (error) {
    return !isRefusal(error);
  }
}

function sessionOf(ctx: Context, sessions: Sessions, caller: Caller): Session {
  const session = sessions.find(String(ctx.query.sessionId ?? ""));
  if (!session) {
    throw new Problem("NotFound", "There is no open session of this sessionId; GET /sse opens one");
  }
  if (session.keyId === caller.keyId) return session;
  throw new Problem("Forbidden", "This session was opened with another key");
}

async function deliver(ctx: Context, session: Session, message: object): Promise<void> {
  const { requestId, address } = ctx.state as RequestState;
  try {
    await session.receive(message, { requestId, address });
    ctx.status = 202;
    ctx.body = "Accepted";
  } catch (error) {
    if (!(error instanceof NotAMessage)) throw error;
    refused(ctx, INVALID_REQUEST, error.message);
  }
}

const stopping = () =>
  new Problem("Unavailable", "The tool server is stopping; connect again in a few seconds", {
    headers: { "retry-after": "5" },
  });

const tooManyStreams = () =>
  new Problem(
    "RateLimited",
    `This key has ${MOST_SESSIONS} streams open; close one before opening another`,
  );

/** Routers answer HEAD by the handler of GET, which here would leave a stream behind that nobody reads. */
const onlyGet = () =>
  new Problem("MethodNotAllowed", "A stream is opened with GET", { headers: { allow: "GET" } });

import type { ServerResponse } from "node:http";
import { settledWithin, trackCalls } from "./_calls_under_way.ts";
import { openSseChannel, type SseChannel } from "./protocol/mod.ts";
import type { SessionOwner } from "./auth.ts";
import type { RequestHandlers, RequestOrigin } from "./requests.ts";
import type { SessionTiming } from "./session_timing.ts";

/** A key's open SSE stream. */
export interface SseSession extends SessionOwner {
  readonly id: string;
  /** @throws {InvalidMessage} it is no JSON-RPC 2.0 message */
  receive(message: unknown, origin: RequestOrigin): Promise<void>;
}

/** The owner of a new session. */
interface SseOwner extends SessionOwner {
  readonly handlers: RequestHandlers;
  /** Called at every heartbeat; false ends the session. */
  isKeyValid(): Promise<boolean>;
}

/** The open SSE sessions of this process. */
export interface SseSessions {
  readonly size: number;
  /** True once {@linkcode close} was called. */
  readonly isClosing: boolean;
  /** Returns the number of sessions that a key has open. */
  count(keyId: string): number;
  find(id: string): SseSession | undefined;
  open(res: ServerResponse, owner: SseOwner): Promise<SseSession>;
  /** Waits for calls under way and their results, then ends every stream. @param timeoutMs of the wait, ≥ 0 */
  close(timeoutMs: number): Promise<void>;
}

const MESSAGES_PATH = "/messages";
/** Maximum of bytes that a client may leave unread on its stream. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

interface LiveSession extends SseSession {
  readonly owner: SseOwner;
  readonly res: ServerResponse;
  readonly channel: SseChannel;
  readonly calls: Set<Promise<unknown>>;
  lastMessageAt: number;
}

/** Starts without sessions. */
export function createSseSessions(timing: SessionTiming): SseSessions {
  const sessions = new Map<string, LiveSession>();
  const timer = setInterval(() => {
    for (const session of sessions.values()) void sendHeartbeat(session, timing.sseIdleMs);
  }, timing.heartbeatMs).unref();
  let isClosing = false;

  return {
    get size() {
      return sessions.size;
    },
    get isClosing() {
      return isClosing;
    },
    count: (keyId) => [...sessions.values()].filter((session) => session.keyId === keyId).length,
    find: (id) => sessions.get(id),
    async open(res, owner) {
      const session = await openSession(res, owner);
      if (!res.closed) sessions.set(session.id, session);
      res.once("close", () => sessions.delete(session.id));
      return session;
    },
    async close(timeoutMs) {
      isClosing = true;
      clearInterval(timer);
      const calls = [...sessions.values()].flatMap((session) => [...session.calls]);
      await settledWithin(calls, timeoutMs);
      await Promise.all([...sessions.values()].map(({ channel }) => channel.close()));
    },
  };
}

async function openSession(res: ServerResponse, owner: SseOwner): Promise<LiveSession> {
  const calls = new Set<Promise<unknown>>();
  res.setHeader("x-accel-buffering", "no"); // otherwise nginx holds events back
  const channel = await openSseChannel(MESSAGES_PATH, res, trackCalls(owner.handlers, calls));
  const session: LiveSession = {
    id: channel.id,
    keyId: owner.keyId,
    scope: owner.scope,
    owner,
    res,
    channel,
    calls,
    lastMessageAt: Date.now(),
    receive(message, origin) {
      session.lastMessageAt = Date.now();
      return channel.receive(message, origin);
    },
  };
  return session;
}

/** Sends a comment, or ends a session that is idle, not read, or whose key is no longer valid. */
async function sendHeartbeat(
  { res, owner, channel, calls, lastMessageAt }: LiveSession,
  idleMs: number,
): Promise<void> {
  const isIdle = calls.size === 0 && Date.now() - lastMessageAt > idleMs;
  if (isIdle || res.writableLength > MAX_UNREAD_BYTES || !await owner.isKeyValid()) {
    await channel.close();
    res.destroy();
  } else if (!res.writableEnded) res.write(": still here\n\n");
}

import { randomUUID } from "node:crypto";
import { Problem } from "../contract/mod.ts";
import { settledWithin, trackCalls } from "./_calls_under_way.ts";
import type { SessionOwner } from "./auth.ts";
import { createEventStore } from "./_event_store.ts";
import { type HttpExchange, openHttpSession } from "./protocol/mod.ts";
import type { RequestHandlers } from "./requests.ts";
import type { SessionTiming } from "./session_timing.ts";

/** A key's session over Streamable HTTP. */
export interface KeySession extends SessionOwner {
  readonly id: string;
  handle(exchange: HttpExchange): Promise<Response>;
  /** Keeps the session from being ended while a response is read. @returns the function to call at the end of it */
  startReading(): () => void;
  close(): Promise<void>;
}

/** The sessions over Streamable HTTP of this process. */
export interface HttpSessions {
  readonly size: number;
  find(id: string): KeySession | undefined;
  /**
   * Opens a session. Where the key has the maximum, its unused session that was used longest ago is ended.
   *
   * @throws {Problem} `RateLimited`: all of them are in use
   */
  open(owner: SessionOwner, handlers: RequestHandlers): Promise<KeySession>;
  /** Waits for calls under way, then ends every session. @param timeoutMs of the wait, ≥ 0 */
  close(timeoutMs: number): Promise<void>;
}

/** Maximum of sessions per key. */
const MAX_SESSIONS = 100;

interface LiveSession extends KeySession {
  readonly calls: Set<Promise<unknown>>;
  readerCount: number;
  lastUsedAt: number;
}

const isInUse = ({ calls, readerCount }: LiveSession) => calls.size + readerCount > 0;

/** Starts without sessions. Clients leave without a word, so unused sessions are ended after a time. */
export function createHttpSessions(timing: SessionTiming): HttpSessions {
  const sessions = new Map<string, LiveSession>();
  const timer = setInterval(() => {
    for (const session of sessions.values()) {
      const isIdle = !isInUse(session) && Date.now() - session.lastUsedAt > timing.httpIdleMs;
      if (isIdle) void session.close();
    }
  }, timing.heartbeatMs).unref();

  return {
    get size() {
      return sessions.size;
    },
    find: (id) => sessions.get(id),
    async open(owner, handlers) {
      const own = [...sessions.values()].filter(({ keyId }) => keyId === owner.keyId);
      if (own.length >= MAX_SESSIONS) await endLeastUsed(own);
      const session = await openSession(owner, handlers, (id) => sessions.delete(id));
      sessions.set(session.id, session);
      return session;
    },
    async close(timeoutMs) {
      clearInterval(timer);
      const all = [...sessions.values()];
      await settledWithin(all.flatMap(({ calls }) => [...calls]), timeoutMs);
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

async function endLeastUsed(sessions: readonly LiveSession[]): Promise<void> {
  const unused = sessions.filter((session) => !isInUse(session));
  if (unused.length === 0) {
    const why = `This key has ${MAX_SESSIONS} sessions in use; end one before opening another`;
    throw new Problem("RateLimited", why);
  }
  await unused.reduce((oldest, one) => one.lastUsedAt < oldest.lastUsedAt ? one : oldest).close();
}

async function openSession(
  { keyId, scope }: SessionOwner,
  handlers: RequestHandlers,
  remove: (id: string) => void,
): Promise<LiveSession> {
  const id = randomUUID();
  const calls = new Set<Promise<unknown>>();
  const events = createEventStore<never>();
  const connection = await openHttpSession(trackCalls(handlers, calls), { id, events });
  const session: LiveSession = {
    id,
    keyId,
    scope,
    calls,
    readerCount: 0,
    lastUsedAt: Date.now(),
    handle(exchange) {
      session.lastUsedAt = Date.now();
      return connection.handle(exchange);
    },
    startReading() {
      session.readerCount++;
      return () => {
        session.readerCount--;
        session.lastUsedAt = Date.now();
      };
    },
    async close() {
      remove(id);
      await connection.close();
    },
  };
  return session;
}

import { randomUUID } from "node:crypto";
import { Problem } from "../contract/mod.ts";
import { rememberEvents } from "./_events.ts";
import type { Handlers } from "./handlers.ts";
import { type Exchange, type HttpSession, openHttpSession } from "./protocol.ts";
import { counted, type Pace, settledWithin } from "./sessions.ts";

/** A key's session over Streamable HTTP. */
export interface HeldSession {
  readonly id: string;
  /** Public id of the key that opened it; only that key may send to it. */
  readonly keyId: string;
  answer(exchange: Exchange): Promise<Response>;
  /** Notes that an answer is being read, until what this gives is called: meanwhile the session is in use. */
  reading(): () => void;
  close(): Promise<void>;
}

/** The sessions over Streamable HTTP of this process. */
export interface HttpSessions {
  readonly size: number;
  find(id: string): HeldSession | undefined;
  /**
   * Opens one. Where the key has as many as it may, that which nobody uses and was used least of late is given up.
   *
   * @throws {Problem} `RateLimited`: all of them are in use
   */
  open(keyId: string, handlers: Handlers): Promise<HeldSession>;
  /** Lets the calls under way finish, then ends every session. @param deadlineMs milliseconds, ≥ 0 */
  close(deadlineMs: number): Promise<void>;
}

/** Most that one key may have at a time. */
const MOST_SESSIONS = 100;

interface Live extends HeldSession {
  readonly session: HttpSession;
  readonly calls: Set<Promise<unknown>>;
  readers: number;
  lastUse: number;
}

const inUse = ({ calls, readers }: Live) => calls.size + readers > 0;

const tooManySessions = () =>
  new Problem(
    "RateLimited",
    `This key has ${MOST_SESSIONS} sessions in use; end one before opening another`,
  );

/** Starts with no session. A client that goes away says nothing, so those that are not used are ended. */
export function createHttpSessions({ beatMs, abandonedMs }: Pace): HttpSessions {
  const live = new Map<string, Live>();
  const byKey = new Map<string, Set<Live>>();
  const end = async (held: Live) => {
    live.delete(held.id);
    const own = byKey.get(held.keyId);
    own?.delete(held);
    if (own?.size === 0) byKey.delete(held.keyId);
    await held.session.close();
  };
  const timer = setInterval(() => {
    for (const held of live.values()) {
      if (!inUse(held) && Date.now() - held.lastUse > abandonedMs) void end(held);
    }
  }, beatMs).unref();

  async function open(keyId: string, handlers: Handlers): Promise<HeldSession> {
    const own = byKey.get(keyId);
    if (own && own.size >= MOST_SESSIONS) {
      const unused = [...own].filter((session) => !inUse(session));
      if (unused.length === 0) throw tooManySessions();
      await end(unused.reduce((oldest, one) => one.lastUse < oldest.lastUse ? one : oldest));
    }
    const id = randomUUID();
    const calls = new Set<Promise<unknown>>();
    const { call } = counted(handlers, calls);
    const events = rememberEvents<never>();
    const session = await openHttpSession({ ...handlers, call }, { id, events });
    const held: Live = {
      id,
      keyId,
      session,
      calls,
      readers: 0,
      lastUse: Date.now(),
      answer(exchange) {
        held.lastUse = Date.now();
        return session.answer(exchange);
      },
      reading() {
        held.readers++;
        return () => {
          held.readers--;
          held.lastUse = Date.now();
        };
      },
      close: () => end(held),
    };
    live.set(id, held);
    byKey.set(keyId, (byKey.get(keyId) ?? new Set()).add(held));
    return held;
  }

  return {
    get size() {
      return live.size;
    },
    find: (id) => live.get(id),
    open,
    async close(deadlineMs) {
      clearInterval(timer);
      await settledWithin([...live.values()].flatMap(({ calls }) => [...calls]), deadlineMs);
      await Promise.all([...live.values()].map(end));
    },
  };
}

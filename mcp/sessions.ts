import type { ServerResponse } from "node:http";
import type { Handlers, Origin, ToolCall } from "./handlers.ts";
import { type Channel, openChannel } from "./protocol.ts";

/** One key's open stream. */
export interface Session {
  readonly id: string;
  /** Public id of the key that opened it; only that key may send to it. */
  readonly keyId: string;
  /** @throws {NotAMessage} it is no JSON-RPC 2.0 message */
  receive(message: unknown, origin: Origin): Promise<void>;
}

/** Whose stream, and how long it may live. */
export interface Opening {
  readonly keyId: string;
  readonly handlers: Handlers;
  /** Asked at every beat; false ends the session. */
  stillValid(): Promise<boolean>;
}

/** The open sessions of this process. */
export interface Sessions {
  readonly size: number;
  /** Whether {@linkcode close} was called: nothing new is to be begun. */
  readonly closing: boolean;
  /** How many of them this key has open. */
  count(keyId: string): number;
  find(id: string): Session | undefined;
  open(res: ServerResponse, opening: Opening): Promise<Session>;
  /**
   * Lets the calls under way finish and be answered, then ends every stream.
   *
   * @param deadlineMs milliseconds that calls are waited for, ≥ 0
   */
  close(deadlineMs: number): Promise<void>;
}

/** How a session is kept alive and given up. */
export interface Pace {
  /** Milliseconds between two signs of life on the stream, > 0. */
  readonly beatMs: number;
  /** Milliseconds without a message after which a session with no call under way is ended, > 0. */
  readonly idleMs: number;
  /** Milliseconds after which a session over Streamable HTTP is ended that nobody sends to or reads from, > 0. */
  readonly abandonedMs: number;
}

/** Beats are shorter than the idle limit of common proxies; a client that said nothing all day has gone. */
export const PACE: Pace = { beatMs: 15_000, idleMs: 24 * 3600_000, abandonedMs: 30 * 60_000 };

const PATH = "/messages";
/** Bytes that a client may leave unread on its stream before it is given up. */
const MOST_UNREAD = 16 * 1024 * 1024;

interface Live extends Session {
  readonly opening: Opening;
  readonly res: ServerResponse;
  readonly channel: Channel;
  readonly calls: Set<Promise<unknown>>;
  lastMessage: number;
}

/** Starts with no session. @param pace how often each is looked at, and when it is given up */
export function createSessions(pace: Pace): Sessions {
  const live = new Map<string, Live>();
  const timer = setInterval(() => {
    for (const session of live.values()) void beat(session, pace.idleMs);
  }, pace.beatMs).unref();
  let closing = false;

  return {
    get size() {
      return live.size;
    },
    get closing() {
      return closing;
    },
    count: (keyId) => [...live.values()].filter((session) => session.keyId === keyId).length,
    find: (id) => live.get(id),
    async open(res, opening) {
      const session = await start(res, opening);
      if (!res.closed) live.set(session.id, session);
      res.once("close", () => live.delete(session.id));
      return session;
    },
    async close(deadlineMs) {
      closing = true;
      clearInterval(timer);
      const calls = [...live.values()].flatMap((session) => [...session.calls]);
      await settledWithin(calls, deadlineMs);
      await Promise.all([...live.values()].map(({ channel }) => channel.close()));
    },
  };
}

/** The same calls, which are among those that are given while they are under way. */
export function counted({ call }: Handlers, calls: Set<Promise<unknown>>): Pick<Handlers, "call"> {
  return {
    call(request: ToolCall) {
      const answered = call(request);
      const forget = () => void setImmediate(() => calls.delete(answered));
      calls.add(answered);
      answered.then(forget, forget);
      return answered;
    },
  };
}

async function start(res: ServerResponse, opening: Opening): Promise<Live> {
  const calls = new Set<Promise<unknown>>();
  const { call } = counted(opening.handlers, calls);
  res.setHeader("x-accel-buffering", "no"); // else nginx would hold events back
  const channel = await openChannel(PATH, res, { ...opening.handlers, call });
  const session: Live = {
    id: channel.id,
    keyId: opening.keyId,
    opening,
    res,
    channel,
    calls,
    lastMessage: Date.now(),
    receive(message, origin) {
      session.lastMessage = Date.now();
      return channel.receive(message, origin);
    },
  };
  return session;
}

async function beat({ res, opening, channel, calls, lastMessage }: Live, idleMs: number) {
  const idle = calls.size === 0 && Date.now() - lastMessage > idleMs;
  if (idle || res.writableLength > MOST_UNREAD || !await opening.stillValid()) {
    await channel.close();
    res.destroy();
  } else if (!res.writableEnded) res.write(": still here\n\n");
}

/** Waits for work to settle, and for what is written of it. @param ms milliseconds, ≥ 0 */
export async function settledWithin(work: readonly Promise<unknown>[], ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([Promise.allSettled(work), deadline]);
  clearTimeout(timer);
  await new Promise((resolve) => setImmediate(resolve)); // the answers are written in the turn after the calls
}

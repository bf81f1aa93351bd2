import { Problem } from "../contract/mod.ts";
import { type Holder, listen, type Listener, openHolder, type Store } from "../store/mod.ts";

/** A call that waits for news of one thing. */
export interface NewsFollower {
  /** True once the process stops. */
  readonly closing: boolean;
  /** Waits for news since the last wait. @returns false after the timeout, or when the signal is aborted */
  wait(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  stop(): void;
}

/** Wakes calls that wait for news. It connects to the database when the first one waits. */
export interface NewsWatch {
  /** Number of calls that wait. */
  readonly waiting: number;
  /** Lock by which this process shows that it still answers what it has begun. */
  readonly holder: Holder;
  follow(id: string): Promise<NewsFollower>;
  /** @throws {Problem} `Unavailable`: the process stops */
  check(): void;
  /** Lets a call be answered. @throws {Problem} `Unavailable`: the process stops */
  answer<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Takes no more calls, ends all waits, and returns when the calls so far are answered. */
  close(): Promise<void>;
}

/** Opens a watch. @param channel of PostgreSQL's notifications, whose payload is the id of the thing that has news */
export function openNewsWatch(store: Store, channel: string): NewsWatch {
  const followers = new Set<{ readonly id: string; tell(): void }>();
  let listener: Promise<Listener> | undefined;
  const answering = new Set<Promise<unknown>>();
  let isClosed = false;

  function tell(id?: string): void {
    for (const follower of followers) {
      if (id === undefined || follower.id === id) follower.tell();
    }
  }

  async function connect(): Promise<void> {
    listener ??= listen(store, [channel], {
      onNotify: (_, id) => tell(id),
      onConnect: () => tell(),
    });
    try {
      await listener;
    } catch (error) {
      listener = undefined;
      throw error;
    }
  }

  function check(): void {
    if (isClosed) throw new Problem("Unavailable", "The gateway stops; send it again");
  }

  return {
    holder: openHolder(store),
    get waiting() {
      return followers.size;
    },
    async follow(id) {
      let hasNews = false;
      let wake = () => {};
      const entry = {
        id,
        tell() {
          hasNews = true;
          wake();
        },
      };
      await connect();
      followers.add(entry);
      return {
        get closing() {
          return isClosed;
        },
        stop: () => void followers.delete(entry),
        wait: (timeoutMs, signal) =>
          new Promise((resolve) => {
            const end = () => {
              clearTimeout(timer);
              signal.removeEventListener("abort", end);
              wake = () => {};
              resolve(hasNews);
              hasNews = false;
            };
            const timer = setTimeout(end, timeoutMs);
            wake = end;
            signal.addEventListener("abort", end, { once: true });
            if (hasNews || isClosed || signal.aborted) end();
          }),
      };
    },
    check,
    async answer(work) {
      check();
      const answer = work();
      answering.add(answer);
      try {
        return await answer;
      } finally {
        answering.delete(answer);
      }
    },
    async close() {
      isClosed = true;
      tell();
      await Promise.allSettled(answering);
      await (await listener?.catch(() => undefined))?.close();
    },
  };
}

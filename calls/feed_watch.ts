import { Problem } from "../contract/mod.ts";
import { listen, type Listener, type Store } from "../store/mod.ts";
import { KEYS_CHANGED } from "../store/keys/mod.ts";
import { MESSAGES_ADDED } from "../store/notices/mod.ts";

/** News for a follower: messages of its tenant, a change of any key, or both after a lost connection. */
interface FeedNews {
  readonly messages: boolean;
  readonly keys: boolean;
}

/** A reader who waits for messages. */
export interface Follower {
  /** News since {@linkcode Follower.clearNews}. At first there may be any. */
  readonly news: FeedNews;
  clearNews(): void;
  /** Waits until there is news, the follower stops or the process does. @returns false after the timeout */
  wait(timeoutMs: number): Promise<boolean>;
  /** True once the process stops. */
  readonly closing: boolean;
  stop(): void;
}

/** Wakes those who follow the feed. It connects when the first one begins. */
export interface FeedWatch {
  /** @throws {Problem} `RateLimited`: the key has as many streams as it may have */
  follow(tenant: string, keyId: string): Promise<Follower>;
  /** Ends all that follow. */
  close(): Promise<void>;
}

const NONE: FeedNews = { messages: false, keys: false };
const ALL: FeedNews = { messages: true, keys: true };
const RETRY_AFTER_SECONDS = 60;

/** Opens a watch. @param maxPerKey streams of a key in this process */
export function openFeedWatch(store: Store, maxPerKey: number): FeedWatch {
  const followers = new Set<{ readonly tenant: string; tell(news: FeedNews): void }>();
  const streams = new Map<string, number>();
  let listener: Promise<Listener> | undefined;
  let isClosed = false;

  function tell(news: FeedNews, tenant?: string): void {
    for (const follower of followers) {
      if (tenant === undefined || follower.tenant === tenant) follower.tell(news);
    }
  }

  async function connect(): Promise<void> {
    listener ??= listen(store, [MESSAGES_ADDED, KEYS_CHANGED], {
      onNotify: (channel, tenant) =>
        channel === MESSAGES_ADDED
          ? tell({ messages: true, keys: false }, tenant)
          : tell({ messages: false, keys: true }),
      onConnect: () => tell(ALL),
    });
    try {
      await listener;
    } catch (error) {
      listener = undefined;
      throw error;
    }
  }

  function count(keyId: string, change: number): void {
    const open = (streams.get(keyId) ?? 0) + change;
    if (open > maxPerKey) throw tooManyStreams(maxPerKey);
    if (open === 0) streams.delete(keyId);
    else streams.set(keyId, open);
  }

  return {
    async follow(tenant, keyId) {
      count(keyId, 1);
      let news = ALL;
      let wake = () => {};
      const entry = {
        tenant,
        tell({ messages, keys }: FeedNews) {
          news = { messages: news.messages || messages, keys: news.keys || keys };
          wake();
        },
      };
      const stop = () => {
        if (!followers.delete(entry)) return;
        count(keyId, -1);
        wake();
      };
      followers.add(entry);
      try {
        await connect();
      } catch (error) {
        stop();
        throw error;
      }
      return {
        get news() {
          return news;
        },
        get closing() {
          return isClosed;
        },
        clearNews: () => void (news = NONE),
        stop,
        wait: (timeoutMs) =>
          new Promise((resolve) => {
            if (news !== NONE || isClosed || !followers.has(entry)) return resolve(true);
            const timer = setTimeout(() => resolve(false), timeoutMs);
            wake = () => {
              clearTimeout(timer);
              resolve(true);
            };
          }),
      };
    },
    async close() {
      isClosed = true;
      tell(ALL);
      await (await listener?.catch(() => undefined))?.close();
    },
  };
}

function tooManyStreams(limit: number): Problem {
  const message =
    `Cannot open another stream: this key has ${limit} already, which is the limit; close one first`;
  return new Problem("RateLimited", message, {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}

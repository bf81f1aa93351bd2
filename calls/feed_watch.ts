import { Problem } from "../contract/mod.ts";
import { listen, type Listener, type Store } from "../store/mod.ts";
import { KEYS_CHANGED } from "../store/keys/mod.ts";
import { MESSAGES_ADDED } from "../store/notices/mod.ts";
import { openViewers, VIEWERS_CHANGED } from "./viewers.ts";

/** News for a follower: messages of its tenant, a change of any key, or both after a lost connection; others who look. */
interface FeedNews {
  readonly messages: boolean;
  readonly keys: boolean;
  readonly viewers: boolean;
}

/** A view that a follower has open, and the name under which others see it. */
export interface View {
  /** A tenant and an approval of it. */
  readonly topic: string;
  readonly name: string;
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
  /** Names of those who have the same open now. */
  viewers(): string[];
  stop(): void;
}

/** Wakes those who follow the feed. It connects when the first one begins. */
export interface FeedWatch {
  /** @throws {Problem} `RateLimited`: the key has as many streams as it may have */
  follow(tenant: string, keyId: string, view?: View): Promise<Follower>;
  /** Ends all that follow. */
  close(): Promise<void>;
}

const NONE: FeedNews = { messages: false, keys: false, viewers: false };
const ALL: FeedNews = { messages: true, keys: true, viewers: true };
const RETRY_AFTER_SECONDS = 60;

/** Opens a watch. @param maxPerKey streams of a key in this process */
export function openFeedWatch(store: Store, maxPerKey: number): FeedWatch {
  const followers = new Set<
    { readonly tenant: string; readonly topic: string | undefined; tell(news: FeedNews): void }
  >();
  const viewers = openViewers(
    (payload) => store.asPlatform().query("SELECT pg_notify($1, $2)", [VIEWERS_CHANGED, payload]),
    (topic) => {
      for (const follower of followers) {
        if (follower.topic === topic) follower.tell({ ...NONE, viewers: true });
      }
    },
  );
  const streams = new Map<string, number>();
  let listener: Promise<Listener> | undefined;
  let isClosed = false;

  function tell(news: FeedNews, tenant?: string): void {
    for (const follower of followers) {
      if (tenant === undefined || follower.tenant === tenant) follower.tell(news);
    }
  }

  async function connect(): Promise<void> {
    listener ??= listen(store, [MESSAGES_ADDED, KEYS_CHANGED, VIEWERS_CHANGED], {
      onNotify: (channel, payload) => {
        if (channel === VIEWERS_CHANGED) viewers.hear(payload);
        else if (channel === MESSAGES_ADDED) tell({ ...NONE, messages: true }, payload);
        else tell({ ...NONE, keys: true });
      },
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
    async follow(tenant, keyId, view) {
      count(keyId, 1);
      let news = ALL;
      let wake = () => {};
      const entry = {
        tenant,
        topic: view?.topic,
        tell({ messages, keys, viewers }: FeedNews) {
          news = {
            messages: news.messages || messages,
            keys: news.keys || keys,
            viewers: news.viewers || viewers,
          };
          wake();
        },
      };
      let leave = () => {};
      const stop = () => {
        if (!followers.delete(entry)) return;
        leave();
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
      if (view && followers.has(entry)) leave = viewers.join(view.topic, view.name);
      return {
        get news() {
          return news;
        },
        get closing() {
          return isClosed;
        },
        viewers: () => view ? viewers.namesOf(view.topic) : [],
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
      viewers.close();
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

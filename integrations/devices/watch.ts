import { Problem } from "../../contract/mod.ts";
import { type Holder, listen, type Listener, openHolder, type Store } from "../../store/mod.ts";
import { DEVICE_NEWS } from "../../store/devices/mod.ts";

/** A device's heartbeat that waits for news. */
export interface DeviceFollower {
  /** True once the process stops. */
  readonly closing: boolean;
  /** Waits for news since the last wait. @returns false after the timeout, or when the signal is aborted */
  wait(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  stop(): void;
}

/** Wakes heartbeats that wait. It connects to the database when the first one waits. */
export interface DeviceWatch {
  /** Number of heartbeats that wait. */
  readonly waiting: number;
  /** Lock by which this process shows that it still answers what it has begun. */
  readonly holder: Holder;
  follow(deviceId: string): Promise<DeviceFollower>;
  /** @throws {Problem} `Unavailable`: the process stops */
  check(): void;
  /** Lets a heartbeat be answered. @throws {Problem} `Unavailable`: the process stops */
  answer<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Takes no more heartbeats, ends all waits, and returns when the heartbeats so far are answered. */
  close(): Promise<void>;
}

/** Opens a watch. */
export function openDeviceWatch(store: Store): DeviceWatch {
  const followers = new Set<{ readonly deviceId: string; tell(): void }>();
  let listener: Promise<Listener> | undefined;
  const answering = new Set<Promise<unknown>>();
  let isClosed = false;

  function tell(deviceId?: string): void {
    for (const follower of followers) {
      if (deviceId === undefined || follower.deviceId === deviceId) follower.tell();
    }
  }

  async function connect(): Promise<void> {
    listener ??= listen(store, [DEVICE_NEWS], {
      onNotify: (_, deviceId) => tell(deviceId),
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
    if (isClosed) throw new Problem("Unavailable", "The gateway stops; send the heartbeat again");
  }

  return {
    holder: openHolder(store),
    get waiting() {
      return followers.size;
    },
    async follow(deviceId) {
      let hasNews = false;
      let wake = () => {};
      const entry = {
        deviceId,
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

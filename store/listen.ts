import pg from "pg";
import { connectionOptions, type Store } from "./connection.ts";

/** A lasting LISTEN. */
export interface Listener {
  /** False while the connection is down, when notifications may be missed. */
  readonly live: boolean;
  close(): Promise<void>;
}

/** Handlers of a listener. */
export interface ListenHandlers {
  /** Called for each notification. */
  onNotify(channel: string, payload: string): void;
  /** Called once connected, and again after a lost connection: notifications in between are lost, so look again. */
  onConnect?(): void | Promise<void>;
}

const RETRY_MS = 500;

/**
 * Listens on channels over a connection of its own, and reconnects when it is lost.
 *
 * @param channels names of notification channels, plain identifiers
 */
export async function listen(
  store: Store,
  channels: readonly string[],
  handlers: ListenHandlers,
): Promise<Listener> {
  let client: pg.Client | undefined;
  let live = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client(connectionOptions(store.url, store.role));
    client = next;
    next.on("error", () => lost(next));
    next.on("end", () => lost(next));
    next.on("notification", ({ channel, payload }) => handlers.onNotify(channel, payload ?? ""));
    await next.connect();
    await next.query(channels.map((name) => `LISTEN ${next.escapeIdentifier(name)}`).join(";"));
    live = true;
    await handlers.onConnect?.();
  }

  function lost(which: pg.Client): void {
    if (which !== client || closed) return;
    client = undefined;
    live = false;
    timer = setTimeout(retry, RETRY_MS);
  }

  function retry(): void {
    connect().catch(() => {
      if (client) lost(client);
    });
  }

  await connect();
  return {
    get live() {
      return live;
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}

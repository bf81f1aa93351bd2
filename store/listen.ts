import type pg from "pg";
import type { Store } from "./connection.ts";

/** A lasting LISTEN. */
export interface Listener {
  /** False while notifications may be missed: the connection is down, or the server is a hot standby. */
  readonly live: boolean;
  close(): Promise<void>;
}

/** Handlers of a listener. */
export interface ListenHandlers {
  /** Called for each notification. */
  onNotify(channel: string, payload: string): void;
  /**
   * Called when there may be changes that no notification tells of: once connected, again after a lost connection, and
   * every second while the server is a hot standby.
   */
  onConnect?(): void | Promise<void>;
}

const RETRY_MS = 500;
const STANDBY_POLL_MS = 1_000;

/**
 * Listens on channels over a connection of its own, and reconnects when it is lost. On a hot standby, which refuses
 * LISTEN, it polls until that is promoted.
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
    const next = await store.connect();
    if (closed) return void await next.end();
    client = next;
    next.on("error", () => lost(next));
    next.on("end", () => lost(next));
    next.on("notification", ({ channel, payload }) => handlers.onNotify(channel, payload ?? ""));
    await subscribe(next);
  }

  async function subscribe(on: pg.Client): Promise<void> {
    const { rows: [server] } = await on.query("SELECT pg_is_in_recovery() AS standby");
    if (server.standby) {
      timer = setTimeout(() => subscribe(on).catch(() => lost(on)), STANDBY_POLL_MS);
    } else {
      await on.query(channels.map((name) => `LISTEN ${on.escapeIdentifier(name)}`).join(";"));
      live = true;
    }
    await handlers.onConnect?.();
  }

  function lost(which: pg.Client): void {
    if (which !== client || closed) return;
    client = undefined;
    live = false;
    which.end().catch(() => {});
    clearTimeout(timer);
    timer = setTimeout(retry, RETRY_MS);
  }

  function retry(): void {
    connect().catch(() => {
      if (client) lost(client);
      else if (!closed) timer = setTimeout(retry, RETRY_MS);
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

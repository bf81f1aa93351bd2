import pg from "pg";
import type { Store } from "./connection.ts";
import type { SessionConnection, SessionUse } from "./session.ts";

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

const STANDBY_POLL_MS = 1_000;

/**
 * Listens on channels over the store's connection for what outlives a statement, which all listeners share, and goes on
 * when it is lost. On a hot standby, which refuses LISTEN, it polls until that is promoted.
 *
 * @param channels names of notification channels, plain identifiers
 */
export async function listen(
  { session }: Pick<Store, "session">,
  channels: readonly string[],
  handlers: ListenHandlers,
): Promise<Listener> {
  let live = false;
  let timer: NodeJS.Timeout | undefined;
  let forget = () => {};

  async function subscribe(on: SessionConnection): Promise<void> {
    const [server] = await on.query("SELECT pg_is_in_recovery() AS standby");
    if (server.standby) {
      timer = setTimeout(() => void subscribe(on).catch(() => {}), STANDBY_POLL_MS);
    } else {
      for (const name of channels) await on.query(`LISTEN ${pg.escapeIdentifier(name)}`);
      live = true;
    }
    await handlers.onConnect?.();
  }

  const use: SessionUse = {
    async begin(connection: SessionConnection) {
      forget = connection.hear(({ channel, payload }) => {
        if (channels.includes(channel)) handlers.onNotify(channel, payload ?? "");
      });
      await subscribe(connection);
    },
    lost() {
      live = false;
      clearTimeout(timer);
    },
  };
  await session.join(use);
  return {
    get live() {
      return live;
    },
    async close() {
      forget();
      clearTimeout(timer);
      live = false;
      await session.leave(use);
    },
  };
}

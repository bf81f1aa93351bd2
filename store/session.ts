import type pg from "pg";

/** Milliseconds between attempts to connect again. */
const RETRY_MS = 250;

/** The connection, as its uses have it. */
export interface SessionConnection {
  /** Runs a statement after those that were given before. */
  query(sql: string, values?: readonly unknown[]): Promise<pg.QueryResult["rows"]>;
  /** @returns a function that stops the hearing */
  hear(onNotify: (notification: pg.Notification) => void): () => void;
}

/** A use of the connection that outlives a statement: a LISTEN, or a lock. */
export interface SessionUse {
  /** Called with each new connection. Where it throws, the connection is given up, and made anew. */
  begin(connection: SessionConnection): Promise<void>;
  /** Called when the connection is lost. */
  lost(): void;
}

/** The one connection of a store for all that outlives a statement. It is made with its first use, and again when it is lost. */
export interface Session {
  /**
   * Adds a use, or waits until one that was added has begun again.
   *
   * @throws whatever the driver throws, where the database is away; a new use is then not added
   */
  join(use: SessionUse): Promise<void>;
  /** Ends a use; with the last one the connection ends. */
  leave(use: SessionUse): Promise<void>;
  close(): Promise<void>;
}

/** A connection, and the uses that have begun on it. */
interface Connected {
  readonly client: pg.Client;
  readonly connection: SessionConnection;
  readonly begun: Map<SessionUse, Promise<void>>;
}

/** Opens the session of a store. It keeps no program from ending that waits for none of its statements. */
export function openSession(open: () => Promise<pg.Client>): Session {
  const uses = new Set<SessionUse>();
  let current: Promise<Connected> | undefined;
  let connected: Connected | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function connect(): Promise<Connected> {
    clearTimeout(timer);
    const mine = openOnce();
    current = mine;
    mine.then(
      (to) => uses.forEach((use) => void begin(to, use).catch(() => lost(to))),
      () => {
        if (current === mine) again();
      },
    );
    return mine;
  }

  async function openOnce(): Promise<Connected> {
    const client = await open();
    if (isClosed || uses.size === 0) {
      void client.end().catch(() => {});
      throw new Error("The connection for locks and notifications was closed meanwhile");
    }
    client.setMaxListeners(0); // each LISTEN has one of its own
    const to = connected = { client, connection: shareClient(client), begun: new Map() };
    client.on("error", () => lost(to)).on("end", () => lost(to));
    return to;
  }

  function begin({ connection, begun }: Connected, use: SessionUse): Promise<void> {
    const beginning = begun.get(use) ?? use.begin(connection);
    begun.set(use, beginning);
    return beginning;
  }

  function lost(which: Connected): void {
    if (which !== connected) return;
    connected = undefined;
    which.client.end().catch(() => {});
    for (const use of which.begun.keys()) use.lost();
    again();
  }

  function again(): void {
    current = undefined;
    clearTimeout(timer);
    if (isClosed || uses.size === 0) return;
    timer = setTimeout(() => {
      if (uses.size > 0) connect().catch(() => {});
    }, RETRY_MS);
  }

  async function hangUp(): Promise<void> {
    const last = connected;
    current = connected = undefined;
    clearTimeout(timer);
    await last?.client.end().catch(() => {});
  }

  return {
    async join(use) {
      const isNew = !uses.has(use);
      uses.add(use);
      try {
        await begin(await (current ?? connect()), use);
      } catch (error) {
        if (isNew) uses.delete(use);
        throw error;
      }
    },
    async leave(use) {
      uses.delete(use);
      connected?.begun.delete(use);
      if (uses.size === 0) await hangUp();
    },
    async close() {
      isClosed = true;
      uses.clear();
      await hangUp();
    },
  };
}

function shareClient(client: pg.Client): SessionConnection {
  const held = client as pg.Client & { ref(): void; unref(): void }; // missing in the types
  held.unref();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    async query(sql, values = []) {
      if (waiting++ === 0) held.ref();
      const result = last.then(() => client.query(sql, [...values]));
      last = result.catch(() => {});
      try {
        return (await result).rows;
      } finally {
        if (--waiting === 0) held.unref();
      }
    },
    hear(onNotify) {
      client.on("notification", onNotify);
      return () => void client.off("notification", onNotify);
    },
  };
}

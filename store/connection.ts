import knexModule, { type Knex } from "knex";
import pg from "pg";

/** Database roles: who may do what is decided by their grants, in the migrations. */
export const ROLES = {
  /** Owns the schema; runs the migrations and nothing else. */
  owner: "sealoop_owner",
  /** Gateway, tool server and workers: everything but writing receipts. */
  app: "sealoop_app",
  /** Takes the outbox and inserts receipts. */
  sequencer: "sealoop_sequencer",
  /** The public ledger: SELECT on what is public. */
  ledger: "sealoop_ledger",
} as const;

/** A role of the platform. */
export type Role = keyof typeof ROLES;

/** An open database: the query builder, and the pool under it for statements that are measured. */
export interface Store {
  readonly knex: Knex;
  readonly pool: pg.Pool;
  /** Connection string that it was opened with, and the role it runs as. */
  readonly url: string;
  readonly role: Role;
  /** Waits for running queries, then closes. */
  close(): Promise<void>;
}

/** What a statement can run on: the store's builder, or a transaction of it. */
export type Queryable = Knex | Knex.Transaction;

/**
 * How long a statement waits for a connection. Longer than a process that is given hundreds of requests at once is busy
 * with them: it finds its timers due before it reads what the database has answered long ago.
 */
const CONNECT_MS = 30_000;

/**
 * Opens a store as one role. Nothing is connected until the first query.
 *
 * @param url `postgres://…`; a user that is not the role itself drops its rights to it on every connection
 * @param size most connections, > 0
 */
export function openStore(url: string, role: Role, size = 10): Store {
  const connection = connectionOptions(url, role);
  const knex = knexModule.knex({
    client: "pg",
    connection,
    pool: { min: 0, max: size },
    acquireConnectionTimeout: CONNECT_MS,
    log: { warn },
  });
  const pool = new pg.Pool({ ...connection, max: size, connectionTimeoutMillis: CONNECT_MS });
  pool.on("error", () => {}); // an idle connection that died: the pool drops it, the next query reports
  return {
    knex,
    pool,
    url,
    role,
    close: async () => {
      await Promise.all([knex.destroy(), pool.end()]);
    },
  };
}

/** What the builder would print, which is no line of a log. Whose connection has died is told by the query that fails. */
function warn(message: string): void {
  if (!message.startsWith("Connection Error")) process.emitWarning(message);
}

/** Options of one `pg` connection as a role, for those who need a connection of their own. */
export function connectionOptions(
  url: string,
  role: Role,
): Pick<pg.ClientConfig, "connectionString" | "application_name" | "keepAlive" | "options"> {
  const user = decodeURIComponent(new URL(url).username);
  return {
    connectionString: url,
    application_name: `sealoop-${role}`,
    keepAlive: true,
    ...(user === ROLES[role] ? {} : { options: `-c role=${ROLES[role]}` }),
  };
}

/** Runs `work` in one transaction; commits what it gives, rolls back when it throws. */
export function transaction<T>(
  store: Store,
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  return store.knex.transaction(work);
}

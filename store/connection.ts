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

/** A row as the driver gives it: `bigint` and `numeric` as text, `timestamptz` as `Date`, `jsonb` parsed, `bytea` as `Buffer`. */
// deno-lint-ignore no-explicit-any -- columns are typed where a row becomes a record
export type Row = Record<string, any>;

/** A statement that PostgreSQL prepares once a connection, by its name. For statements of the hot paths. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/**
 * The database as a tenant or as the platform sees it. Every function of `store/` takes one.
 *
 * Placeholders are PostgreSQL's: `$1`, `$2`. Texts of statements come from the code alone, never from input.
 */
export interface Db {
  /** Runs one statement and returns its rows. */
  query<R extends Row = Row>(sql: string | Prepared, values?: readonly unknown[]): Promise<R[]>;
  /** The same; returns the first row, or undefined. */
  first<R extends Row = Row>(
    sql: string | Prepared,
    values?: readonly unknown[],
  ): Promise<R | undefined>;
  /** Runs one statement and returns how many rows it changed. */
  execute(sql: string | Prepared, values?: readonly unknown[]): Promise<number>;
  /** Runs `work` in one transaction: commits what it gives, rolls back when it throws. Within a transaction it joins that. */
  transaction<T>(work: (trx: Db) => Promise<T>): Promise<T>;
}

/** An open database. */
export interface Store {
  /** Rows of one tenant. For everything that is done in the name of a tenant's key. */
  asTenant(tenant: string): Db;
  /** All rows. For the platform's own work, and for operations of tier admin that cross tenants. */
  asPlatform(): Db;
  /** The connections under it, for statements that stream or copy. */
  readonly pool: pg.Pool;
  /** Connection string that it was opened with, and the role it runs as. */
  readonly url: string;
  readonly role: Role;
  /** Waits for running statements, then closes. */
  close(): Promise<void>;
}

/**
 * Milliseconds that a statement waits for a connection. Longer than a process that is given hundreds of requests at once
 * is busy with them: it finds its timers due before it reads what the database has answered long ago.
 */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Opens a store as one role. Nothing is connected until the first statement.
 *
 * @param url `postgres://…`; a user that is not the role itself drops its rights to it on every connection
 * @param size most connections, > 0
 */
export function openStore(url: string, role: Role, size = 10): Store {
  const connection = connectionOptions(url, role);
  const pool = new pg.Pool({
    ...connection,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  pool.on("error", () => {}); // an idle connection died: the pool drops it, the next statement reports
  const platform = openDb(pool);
  return {
    asTenant: () => platform, // row-level security is not switched on yet
    asPlatform: () => platform,
    pool,
    url,
    role,
    close: () => pool.end(),
  };
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

function openDb(pool: pg.Pool): Db {
  return {
    ...statementsOn(pool),
    async transaction(work) {
      const client = await pool.connect();
      const statements = statementsOn(client);
      const trx: Db = { ...statements, transaction: (inner) => inner(trx) };
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        const result = await work(trx);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK").catch((failed: Error) => broken = failed);
        throw error;
      } finally {
        client.release(broken); // a connection that can't roll back is not used again
      }
    },
  };
}

/** The statements of a {@linkcode Db} on a pool, or on one connection of it. */
function statementsOn(on: pg.Pool | pg.ClientBase): Omit<Db, "transaction"> {
  const run = async (sql: string | Prepared, values: readonly unknown[] = []) =>
    await on.query(
      typeof sql === "string"
        ? { text: sql, values: [...values] }
        : { ...sql, values: [...values] },
    );
  return {
    query: async <R extends Row>(sql: string | Prepared, values?: readonly unknown[]) =>
      (await run(sql, values)).rows as R[],
    first: async <R extends Row>(sql: string | Prepared, values?: readonly unknown[]) =>
      (await run(sql, values)).rows[0] as R | undefined,
    execute: async (sql, values) => (await run(sql, values)).rowCount ?? 0,
  };
}

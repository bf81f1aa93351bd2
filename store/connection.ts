import pg from "pg";
import { PLATFORM_TENANT } from "../domain/mod.ts";
import { prepareTenants, TenantQuery } from "./_tenant_query.ts";

/** Database roles: who may do what is decided by their grants, in the migrations. */
export const ROLES = {
  /** Owns the schema; runs the migrations and nothing else. */
  owner: "sealoop_owner",
  /** Gateway, tool server and workers: everything but writing receipts. */
  app: "sealoop_app",
  /** Takes the outbox, and appends receipts by a function that checks them. */
  sequencer: "sealoop_sequencer",
  /** The public ledger: SELECT on what is public. */
  ledger: "sealoop_ledger",
} as const;

/** Roles that nobody logs in as. They own functions that may do what their callers may not. */
export const FUNCTION_OWNERS = {
  /** Of functions that serve many tenants at once: it has policies of its own. */
  crossing: "sealoop_crossing",
  /** Of the functions that append to the ledger: no other role may write receipts, keys or the head. */
  ledgerWriter: "sealoop_ledger_writer",
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
 * The database as one tenant sees it. Every function of `store/` takes one.
 *
 * Row-level security compares the owner of each row with the tenant, which is set for the transaction of each statement
 * and no longer. Without it no row of any tenant can be seen.
 *
 * Placeholders are PostgreSQL's: `$1`, `$2`. Texts of statements come from the code alone, never from input.
 */
export interface Db {
  /** Tenant whose rows are seen, and who owns the rows that are added. */
  readonly tenant: string;
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

/** An open database, in the name of one tenant. */
export interface Store {
  readonly tenant: string;
  /** Rows of {@linkcode Store.tenant}, and those that no tenant owns. */
  readonly db: Db;
  /** Returns the same database in the name of another tenant. */
  forTenant(tenant: string): Store;
  /** Rows of one tenant, and those that no tenant owns. */
  asTenant(tenant: string): Db;
  /** Rows of the operator's own tenant, and those that no tenant owns. */
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
 * Opens a store as one role, in the name of the operator's own tenant. Nothing is connected until the first statement.
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
    onConnect: prepareTenants,
  });
  pool.on("error", () => {}); // an idle connection died: the pool drops it, the next statement reports
  const asTenant = (tenant: string) => openDb(pool, tenant);
  const platform = asTenant(PLATFORM_TENANT);
  const stores = new Map<string, Store>(); // one a tenant, so that what is cached for a store is cached for its tenant
  const forTenant = (tenant: string): Store => {
    const known = stores.get(tenant) ?? {
      tenant,
      db: asTenant(tenant),
      forTenant,
      asTenant,
      asPlatform: () => platform,
      pool,
      url,
      role,
      close: () => pool.end(),
    };
    stores.set(tenant, known);
    return known;
  };
  return forTenant(PLATFORM_TENANT);
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

function openDb(pool: pg.Pool, tenant: string): Db {
  const begin = `BEGIN; SELECT set_config('sealoop.tenant', ${pg.escapeLiteral(tenant)}, true)`;
  return {
    tenant,
    ...statements((config) =>
      pool.query(new TenantQuery(tenant, config)) as unknown as Promise<pg.QueryResult>
    ),
    async transaction(work) {
      const client = await pool.connect();
      const trx: Db = {
        tenant,
        ...statements((config) => client.query(config)),
        transaction: (inner) => inner(trx),
      };
      let broken: Error | undefined;
      try {
        await client.query(begin);
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

/**
 * Runs work in the name of another tenant within a transaction, for the few changes that concern two tenants at once.
 *
 * @param trx a transaction
 */
export async function inTenant<T>(
  trx: Db,
  tenant: string,
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  const setTenant = (name: string) =>
    trx.execute("SELECT set_config('sealoop.tenant', $1, true)", [name]);
  const other: Db = { ...trx, tenant, transaction: (inner) => inner(other) };
  await setTenant(tenant);
  const result = await work(other);
  await setTenant(trx.tenant);
  return result;
}

/** Returns the statements of a {@linkcode Db}. @param send runs one, on a pool or on one connection of it */
function statements(
  send: (config: pg.QueryConfig) => Promise<pg.QueryResult>,
): Pick<Db, "query" | "first" | "execute"> {
  const run = (sql: string | Prepared, values: readonly unknown[] = []) =>
    send(
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

import pg from "pg";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { prepareTenants, TenantQuery } from "./_tenant_query.ts";
import { FUNCTION_OWNERS, type Role, ROLES } from "./roles.ts";
import { openSession, type Session } from "./session.ts";

/** A row as the driver gives it: `bigint` and `numeric` as text, `timestamptz` as `Date`, `jsonb` parsed, `bytea` as `Buffer`. */
// deno-lint-ignore no-explicit-any -- columns are typed where a row becomes a record
export type Row = Record<string, any>;

/** A statement that PostgreSQL prepares once a connection, by its name. For statements of the hot paths. */
interface Prepared {
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
  /** Connection string that it was opened with, and the role that it logs in as. */
  readonly url: string;
  /** The same, of the connections for what outlives a statement. */
  readonly directUrl: string;
  readonly role: Role;
  /** The one connection for what outlives a statement: locks and notifications. */
  readonly session: Session;
  /** Opens a connection of its own, for whoever needs a session alone. The caller ends it. */
  connect(): Promise<pg.Client>;
  /** Waits for running statements, then closes. */
  close(): Promise<void>;
}

/**
 * Milliseconds that a statement waits for a connection. Longer than a process that is given hundreds of requests at once
 * is busy with them: it finds its timers due before it reads what the database has answered long ago.
 */
const CONNECT_TIMEOUT_MS = 30_000;

/** A connection logs in as another role than its process has, or as one with more rights. */
export class WrongDatabaseRole extends Error {
  override readonly name = "WrongDatabaseRole";
}

/**
 * Opens a store as one role, in the name of the operator's own tenant. Nothing is connected until the first statement.
 *
 * @param url `postgres://…` of a user that is the role itself. Each new connection checks that, and fails with
 * {@linkcode WrongDatabaseRole} otherwise
 * @param size most connections, > 0, besides the session's
 * @param directUrl of the same database without a pooler in between, for what outlives a statement
 */
export function openStore(url: string, role: Role, size = 10, directUrl: string = url): Store {
  const connection = connectionOptions(directUrl, role);
  const pool = new pg.Pool({
    ...connectionOptions(url, role),
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    onConnect: prepareTenants,
    verify: (client, done) => void checkRole(client, role).then(() => done(), done),
  });
  pool.on("error", () => {}); // an idle connection died: the pool drops it, the next statement reports
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client(connection);
    client.on("error", () => {}); // the caller hears of it, too
    await client.connect();
    try {
      await checkRole(client, role);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    return client;
  }
  const session = openSession(connect);
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
      directUrl,
      role,
      session,
      connect,
      async close() {
        await Promise.all([session.close(), pool.end()]);
      },
    };
    stores.set(tenant, known);
    return known;
  };
  return forTenant(PLATFORM_TENANT);
}

function connectionOptions(url: string, role: Role) {
  return { connectionString: url, application_name: `sealoop-${role}`, keepAlive: true };
}

const WHO = `
  SELECT session_user AS login, current_user AS role,
    rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication AS mighty,
    ARRAY(SELECT pg_get_userbyid(roleid)::text FROM pg_auth_members WHERE member = r.oid) AS memberships
  FROM pg_roles r WHERE rolname = session_user`;

/**
 * Checks that a new connection has the rights of its role and no others. A role that is only set on a connection can be
 * reset on it, so only the role that logs in counts.
 *
 * @throws {WrongDatabaseRole}
 */
async function checkRole(client: pg.ClientBase, role: Role): Promise<void> {
  const { rows: [who] } = await client.query<Identity>(WHO);
  const name = ROLES[role];
  const { login, role: current, mighty, memberships } = who!;
  const allowed: readonly string[] = role === "owner" ? Object.values(FUNCTION_OWNERS) : [];
  const other = memberships.find((membership) => !allowed.includes(membership));
  const problem = login !== name
    ? `it logs in as ${login}`
    : current !== name
    ? `its role is set to ${current}`
    : mighty
    ? `${name} is a superuser, bypasses row-level security, or may create roles or databases`
    : other !== undefined
    ? `${name} is a member of ${other}`
    : undefined;
  if (problem === undefined) return;
  throw new WrongDatabaseRole(
    `Cannot use this database connection: it has to log in as ${name} with no rights but that role's own, and ${problem}; ` +
      "npm run database -- roles prints how the roles are created",
  );
}

interface Identity {
  readonly login: string;
  readonly role: string;
  readonly mighty: boolean;
  readonly memberships: readonly string[];
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
      // The pool listens only while it has the connection. Lost between two statements, it would end the process.
      const lost = (error: Error) => broken = error;
      client.on("error", lost);
      try {
        await client.query(begin);
        const result = await work(trx);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK").catch((failed: Error) => broken = failed);
        throw error;
      } finally {
        client.off("error", lost);
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

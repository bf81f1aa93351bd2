/** Changes that no process of the platform may make, for tests that arrange or tamper. */
import pg from "pg";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import type { Db, Row, Store } from "../store/mod.ts";
import { type KeyRecord, KEYS_CHANGED, makeKey, type NewKey } from "../store/keys/mod.ts";
import { testPostgres } from "./_servers.ts";

/** A database, and the tenant in whose name rows are added; default: the platform. */
type Place = Pick<Store, "url"> & Partial<Pick<Store, "tenant">> & {
  /** URL of any database of the server for its superuser. Default: of the tests' own server. */
  readonly superuserUrl?: string;
};

const pools = new Map<string, pg.Pool>();

/** Returns the database of a store as its superuser sees it: the rows of all tenants. */
export function asSuperuser({ url, tenant = PLATFORM_TENANT, superuserUrl }: Place): Db {
  const open = async () => {
    const server = superuserUrl ?? (await testPostgres()).superuserUrl;
    const { pathname } = new URL(url);
    return superuserPool(Object.assign(new URL(server), { pathname }).href, tenant);
  };
  return {
    tenant,
    ...statementsOn(open),
    async transaction(work) {
      const client = await (await open()).connect();
      const trx: Db = {
        tenant,
        ...statementsOn(() => Promise.resolve(client)),
        transaction: (inner) => inner(trx),
      };
      try {
        await client.query("BEGIN");
        const result = await work(trx);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
  };
}

function statementsOn(
  open: () => Promise<pg.Pool | pg.PoolClient>,
): Omit<Db, "tenant" | "transaction"> {
  const run = async (sql: Parameters<Db["query"]>[0], values: readonly unknown[] = []) =>
    await (await open()).query({
      text: typeof sql === "string" ? sql : sql.text,
      values: [...values],
    });
  return {
    query: async <R extends Row>(sql: Parameters<Db["query"]>[0], values?: readonly unknown[]) =>
      (await run(sql, values)).rows as R[],
    first: async <R extends Row>(sql: Parameters<Db["query"]>[0], values?: readonly unknown[]) =>
      (await run(sql, values)).rows[0] as R | undefined,
    execute: async (sql, values) => (await run(sql, values)).rowCount ?? 0,
  };
}

function superuserPool(connectionString: string, tenant: string): pg.Pool {
  const name = `${connectionString} ${tenant}`;
  let pool = pools.get(name);
  if (!pool) {
    pool = new pg.Pool({
      connectionString,
      options: `-c sealoop.tenant=${tenant}`,
      idleTimeoutMillis: 1_000,
      allowExitOnIdle: true,
      max: 2,
    });
    pool.on("error", () => {}); // its database is dropped when the test ends
    pools.set(name, pool);
  }
  return pool;
}

/** Gives a key of tier partner to somebody, without a receipt. @param fields that differ */
export async function giveKey(
  place: Place,
  fields: Partial<NewKey> = {},
): Promise<{ key: string; record: KeyRecord }> {
  const given: NewKey = {
    tenant: PLATFORM_TENANT,
    tier: "partner",
    scope: "full",
    principal: "test",
    mayApprove: false,
    expiresAt: null,
    ...fields,
  };
  const { key, id, keyHash } = makeKey(given.tier);
  await asSuperuser(place).query("SELECT ensure_tenant($1)", [given.tenant]);
  await asSuperuser(place).execute(
    `INSERT INTO keys (id, key_hash, tenant_id, tier, scope, principal, may_approve, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
      keyHash,
      given.tenant,
      given.tier,
      given.scope,
      given.principal,
      given.mayApprove,
      given.expiresAt,
    ],
  );
  return { key, record: { id, ...given } };
}

/** Takes a key away: revokes it, or lets it expire, without a receipt. */
export async function takeKey(place: Place, id: string, expiresAt?: Date): Promise<void> {
  await asSuperuser(place).query(
    `WITH changed AS (
       UPDATE keys SET expires_at = coalesce($2, expires_at),
         revoked_at = CASE WHEN $2::timestamptz IS NULL THEN now() ELSE revoked_at END WHERE id = $1
     )
     SELECT pg_notify($3, $1)`,
    [id, expiresAt, KEYS_CHANGED],
  );
}

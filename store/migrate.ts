import type { Knex } from "knex";
import type { Store } from "./connection.ts";
import { migrations } from "./migrations/mod.ts";

/** Key of the advisory lock under which migrations run; any number that nobody else of this database uses. */
const LOCK = 7_365_616_101;

/**
 * Brings the schema up to date, forward only. Safe to run by several processes at once, and after one was killed
 * in the middle: each migration is a transaction, and the lock is the connection's own.
 *
 * @param owner a store of role `owner`
 * @returns names of the migrations that were run now
 */
export async function migrate(owner: Store): Promise<string[]> {
  const client = await owner.pool.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    const config = {
      migrationSource: source,
      tableName: "migrations",
    } satisfies Knex.MigratorConfig;
    // knex's own lock is a row that a killed process leaves behind; ours is the one that counts.
    await owner.knex.migrate.forceFreeMigrationsLock(config);
    const [, names] = await owner.knex.migrate.latest(config) as [number, string[]];
    return names;
  } finally {
    await client.query("SELECT pg_advisory_unlock($1)", [LOCK]).catch(() => {});
    client.release(true);
  }
}

const source: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve({ up: migrations[name]!, down: refuse }),
};

function refuse(): Promise<void> {
  return Promise.reject(new Error("Migrations go forward only; restore a backup to go back"));
}

import knex, { type Knex } from "knex";
import { grantRights } from "./rights/mod.ts";
import type { Store } from "./connection.ts";
import { migrations } from "./migrations/mod.ts";
import { requireNotTooNew } from "./readiness.ts";

/** Advisory lock under which migrations run. */
const LOCK = 7_365_616_101;

/**
 * Brings the schema up to date, forward only, and grants the rights of `rights/`. Several processes may run it at once, and again after one was killed:
 * each migration is a transaction, and the lock ends with its connection.
 *
 * Where a newer version has been here, an older one that can work with its schema changes nothing, nor any right.
 *
 * @param owner a store of role `owner`
 * @returns names of the migrations that ran now
 * @throws {SchemaTooNew}
 */
export async function migrate(owner: Store): Promise<string[]> {
  const client = await owner.connect();
  const runner = knex({
    client: "pg",
    connection: owner.url,
    pool: { min: 0, max: 2 },
  });
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    const config = {
      migrationSource: source,
      tableName: "migrations",
    } satisfies Knex.MigratorConfig;
    if (await isOlderVersion(owner)) return [];
    // knex's own lock is a row that a killed process leaves behind; ours is the one that counts.
    await runner.migrate.forceFreeMigrationsLock(config);
    const [, names] = await runner.migrate.latest(config) as [number, string[]];
    await grantRights(client);
    return names;
  } finally {
    await runner.destroy();
    await client.end(); // and the lock with it
  }
}

/** Returns true where the schema has migrations of a newer version. @throws {SchemaTooNew} */
async function isOlderVersion(owner: Store): Promise<boolean> {
  const db = owner.asPlatform();
  const row = await db.first("SELECT to_regclass('migrations') IS NOT NULL AS made");
  if (!row!.made) return false;
  const rows = await db.query<{ name: string }>("SELECT name FROM migrations");
  const applied = new Set(rows.map(({ name }) => name));
  await requireNotTooNew(owner, applied);
  return [...applied].some((name) => migrations[name] === undefined);
}

const source: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) =>
    Promise.resolve({
      up: (trx: Knex) => trx.raw(migrations[name]!.replaceAll("?", "\\?")), // else knex takes ? for a placeholder
      down: refuse,
    }),
};

function refuse(): Promise<void> {
  return Promise.reject(new Error("Migrations go forward only; restore a backup to go back"));
}

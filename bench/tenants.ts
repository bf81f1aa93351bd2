/**
 * The wall between tenants: a statement and a transaction in the name of a tenant against the same ones on a bare pool,
 * on tables of their own that differ in row-level security alone.
 */
import pg from "pg";
import { openStore, type Store } from "../store/mod.ts";
import { testDatabase } from "../test/_servers.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { rounds, runConcurrently, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(15);
const STATEMENTS = scaled(4_000);
const ROWS = 10_000;
const CALLERS = [1, 20];

/** Reads one row by its key. */
const readFrom = (table: string) => ({
  name: `read_${table}`,
  text: `SELECT ticket_id FROM ${table} WHERE tenant_id = 'acme' AND id = $1`,
});

/** Measures statements, then transactions. */
export async function* run(): AsyncGenerator<Figure> {
  const database = await testDatabase();
  const store = openStore(database.urls.worker, "worker", 20);
  const bare = new pg.Pool({ connectionString: database.urls.worker, max: 20 });
  try {
    await fill(database.superuserUrl);
    for (const callers of CALLERS) yield await measureStatements(store, bare, callers);
    yield await measureTransactions(store, bare);
  } finally {
    await store.close();
    await bare.end();
    await database.drop();
  }
}

async function measureStatements(store: Store, bare: pg.Pool, callers: number): Promise<Figure> {
  const db = store.asTenant("acme");
  const mean = (read: (id: string) => Promise<unknown>) => async () => {
    const ms = await timeMs(() =>
      runConcurrently(STATEMENTS, callers, (n) => read(`item-${n % ROWS}`))
    );
    return ms / STATEMENTS * 1_000;
  };
  return {
    label: `statement, ${callers} at once, µs`,
    baselineLabel: "bare pool, no row-level security",
    ...await measureInTurns(ROUNDS, {
      baseline: mean((id) => bare.query({ ...readFrom("bare_items"), values: [id] })),
      platform: mean((id) => db.first(readFrom("learning_items"), [id])),
    }),
  };
}

async function measureTransactions(store: Store, bare: pg.Pool): Promise<Figure> {
  const db = store.asTenant("acme");
  const count = Math.ceil(STATEMENTS / 4);
  const mean = (work: () => Promise<unknown>) => async () =>
    await timeMs(() => runConcurrently(count, 1, work)) / count * 1_000;
  return {
    label: "transaction of two statements, µs",
    baselineLabel: "bare pool, no row-level security",
    ...await measureInTurns(ROUNDS, {
      baseline: mean(async () => {
        const client = await bare.connect();
        await client.query("BEGIN");
        await client.query({ ...readFrom("bare_items"), values: ["item-1"] });
        await client.query({ ...readFrom("bare_items"), values: ["item-2"] });
        await client.query("COMMIT");
        client.release();
      }),
      platform: mean(() =>
        db.transaction(async (trx) => {
          await trx.first(readFrom("learning_items"), ["item-1"]);
          await trx.first(readFrom("learning_items"), ["item-2"]);
        })
      ),
    }),
  };
}

async function fill(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(
    `INSERT INTO learning_items (tenant_id, id, ticket_id, title, category, score, factors, passage, state)
     SELECT 'acme', 'item-' || n, 'INC-' || n, 'title', 'storage', 1, '[]', '{}', 'queued'
     FROM generate_series(0, ${ROWS - 1}) AS n`,
  );
  await client.query("CREATE TABLE bare_items (LIKE learning_items INCLUDING INDEXES)");
  await client.query("INSERT INTO bare_items SELECT * FROM learning_items");
  await client.query("GRANT SELECT ON bare_items TO PUBLIC");
  await client.query("VACUUM ANALYZE learning_items");
  await client.query("VACUUM ANALYZE bare_items");
  await client.end();
}

import { randomUUID } from "node:crypto";
import pg from "pg";

/** A dump that can't be made or loaded like this. */
class DumpRefused extends Error {
  override readonly name = "DumpRefused";
}

/** A table and the columns that are stored. */
interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/** First line of a dump. */
interface Header {
  readonly dump: 1;
  readonly migrations: readonly string[];
}

const PAGE_SIZE = 500;

/** Ordinary tables with their columns. Tables that are emptied by a crash, and those that `migrate` fills, are left out. */
const LIST_TABLES =
  `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
   FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
     AND c.relname NOT IN ('migrations', 'migrations_lock', 'seal_categories') AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   GROUP BY c.relname ORDER BY c.relname`;

/**
 * Dumps all rows of the schema at one moment, as lines of JSON: a header, and of each table its name and its rows.
 *
 * @param url of a role that sees all rows: the superuser, or one with BYPASSRLS
 * @param write called with some lines at a time
 * @throws {DumpRefused} the role does not see all rows
 */
export async function dumpDatabase(
  url: string,
  write: (lines: string) => Promise<void>,
): Promise<void> {
  const client = await connect(url, "sealoop-backup");
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await client.query("SET LOCAL row_security = off"); // an error instead of fewer rows
    const header: Header = { dump: 1, migrations: await listMigrations(client) };
    await write(`${JSON.stringify(header)}\n`);
    for (const table of await listTables(client)) {
      await write(`${JSON.stringify(table)}\n`);
      for await (const rows of readRows(client, table)) await write(rows);
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== "42501") throw error; // insufficient_privilege
    throw new DumpRefused(
      `This role does not see all rows: use one that does (the superuser, or BYPASSRLS): ${message}`,
    );
  } finally {
    await client.end();
  }
}

async function connect(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  client.on("error", () => {}); // the next statement reports it
  await client.connect();
  return client;
}

async function* readRows(client: pg.Client, { name, columns }: Table): AsyncGenerator<string> {
  const cursor = `dump_${randomUUID().replaceAll("-", "")}`;
  const list = columns.map((column) => client.escapeIdentifier(column)).join(", ");
  await client.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR
     SELECT row_to_json(r)::text AS row FROM (SELECT ${list} FROM ${
      client.escapeIdentifier(name)
    }) AS r`,
  );
  while (true) {
    const { rows } = await client.query<{ row: string }>(`FETCH ${PAGE_SIZE} FROM ${cursor}`);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => `${row}\n`).join("");
  }
  await client.query(`CLOSE ${cursor}`);
}

/**
 * Loads a dump into a database with the same schema and without receipts, in one transaction.
 *
 * @param url of the superuser, as triggers and foreign keys do not apply meanwhile
 * @throws {DumpRefused} the database has receipts, or another schema
 */
export async function loadDatabase(url: string, lines: AsyncIterable<string>): Promise<void> {
  const client = await connect(url, "sealoop-restore");
  try {
    await client.query("BEGIN");
    await client.query("SET LOCAL session_replication_role = replica");
    await requireEmpty(client);
    const tables = await listTables(client);
    const names = tables.map(({ name }) => client.escapeIdentifier(name));
    await client.query(`TRUNCATE ${names.join(", ")}`);
    let table: Table | undefined;
    let rows: string[] = [];
    const flush = async () => {
      if (table && rows.length > 0) await insertRows(client, table, rows);
      rows = [];
    };
    let isFirst = true;
    for await (const line of lines) {
      if (isFirst) await requireSameSchema(client, JSON.parse(line));
      else if (isTableLine(line)) {
        await flush();
        table = JSON.parse(line);
      } else if (rows.push(line) === PAGE_SIZE) await flush();
      isFirst = false;
    }
    await flush();
    await restartSequences(client);
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}

/** Returns true for the line of a table. No table has the columns `name` and `columns` alone, in this order. */
function isTableLine(line: string): boolean {
  return /^\{"name":"[a-z0-9_]+","columns":\[/.test(line);
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows: [row] } = await client.query("SELECT size FROM ledger_head");
  if (Number(row.size) === 0) return;
  throw new DumpRefused(
    `The database has ${row.size} receipts; a backup is loaded into an empty one`,
  );
}

async function requireSameSchema(client: pg.Client, header: Partial<Header>): Promise<void> {
  const present = JSON.stringify(await listMigrations(client));
  if (header.dump === 1 && JSON.stringify(header.migrations) === present) return;
  throw new DumpRefused(
    "The dump is of another version of the platform: load it with that version",
  );
}

async function insertRows(
  client: pg.Client,
  { name, columns }: Table,
  rows: readonly string[],
): Promise<void> {
  const table = client.escapeIdentifier(name);
  const list = columns.map((column) => client.escapeIdentifier(column)).join(", ");
  await client.query(
    `INSERT INTO ${table} (${list}) OVERRIDING SYSTEM VALUE
     SELECT ${list} FROM json_populate_recordset(NULL::${table}, $1)`,
    [`[${rows.join(",")}]`],
  );
}

/** Lets the numbers of new rows follow those that were loaded. */
async function restartSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sequence: string; table: string; column: string }>(
    `SELECT pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence, c.relname AS table,
       a.attname AS column
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attidentity <> ''
       AND c.relname NOT IN ('migrations', 'migrations_lock')`,
  );
  for (const { sequence, table, column } of rows) {
    const [from, name] = [table, column].map((n) => client.escapeIdentifier(n));
    await client.query(
      `SELECT setval($1::regclass, coalesce(max(${name}), 0) + 1, false) FROM ${from}`,
      [sequence],
    );
  }
}

async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(LIST_TABLES);
  return rows.map(({ name, columns }) => ({ name, columns }));
}

async function listMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query("SELECT name FROM migrations ORDER BY name");
  return rows.map(({ name }) => name);
}

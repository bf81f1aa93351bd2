import { isDatabaseAway, Problem, withTimeout } from "../contract/mod.ts";
import type { Store } from "./connection.ts";
import { migrations } from "./migrations/mod.ts";

/** Time that a health check waits. A start may wait longer, as on a machine where everything starts at once. */
const CHECK_TIMEOUT_MS = 3_000;
const START_TIMEOUT_MS = 60_000;
/** Time for which an answer counts, so that health checks of strangers cost nothing. */
const CACHED_MS = 1_000;
/** Sentences about a database that lacks something, by PostgreSQL's code. */
const LACKS: Readonly<Record<string, string>> = {
  "42P01": "The database has no tables yet; npm start or npm run setup makes them",
  "42501":
    "The database's role lacks the rights of this version; npm start or npm run setup grants them",
};

/** The database answers and lacks what this version needs. The message says what, and what would help. */
export class DatabaseNotReady extends Error {
  override readonly name = "DatabaseNotReady";
}

/**
 * The database was brought up to date by a newer version, whose tables this version can't work with. The message says what
 * would help.
 */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
}

/** Newest answers, by database and role. */
const answers = new WeakMap<
  Store["pool"],
  { readonly at: number; readonly check: Promise<void> }
>();

/**
 * Checks for a caller that calls would work: that the database answers, has all tables of this version, and that the role
 * may read them. Takes three seconds at most.
 *
 * @throws {Problem} `Unavailable`: they would not, and why
 */
export async function requireReady(store: Pick<Store, "pool" | "asPlatform">): Promise<void> {
  const known = answers.get(store.pool);
  if (known && performance.now() - known.at < CACHED_MS) return await known.check;
  const check = withTimeout(CHECK_TIMEOUT_MS, checkSchema(store)).catch((cause) => {
    throw new Problem("Unavailable", explain(cause), { cause, headers: { "retry-after": "5" } });
  });
  answers.set(store.pool, { at: performance.now(), check });
  await check;
}

/**
 * Checks the same for a process that starts. Takes a minute at most.
 *
 * @throws {DatabaseNotReady}
 * @throws {SchemaTooNew}
 * @throws {WrongDatabaseRole}
 * @throws whatever the driver throws, where the database is away
 */
export async function requireDatabase(store: Pick<Store, "asPlatform">): Promise<void> {
  await withTimeout(START_TIMEOUT_MS, checkSchema(store));
}

async function checkSchema(store: Pick<Store, "asPlatform">): Promise<void> {
  const rows = await store.asPlatform().query<{ name: string }>("SELECT name FROM migrations")
    .catch((cause) => {
      const lack = LACKS[(cause as { code?: string }).code ?? ""];
      throw lack === undefined ? cause : new DatabaseNotReady(lack, { cause });
    });
  const applied = new Set(rows.map(({ name }) => name));
  const missing = Object.keys(migrations).filter((name) => !applied.has(name));
  if (missing.length === 0) return await requireNotTooNew(store, applied);
  throw new DatabaseNotReady(
    `The database lacks ${missing.length} migrations of this version; npm start or npm run setup applies them`,
  );
}

/**
 * Checks that the tables, where a newer version has changed them, are such as this version can work with.
 *
 * @param applied names of all migrations that the database has had
 * @throws {SchemaTooNew}
 */
export async function requireNotTooNew(
  store: Pick<Store, "asPlatform">,
  applied: ReadonlySet<string>,
): Promise<void> {
  const others = [...applied].filter((name) => migrations[name] === undefined);
  if (others.length === 0) return;
  const newest = Object.keys(migrations).at(-1)!;
  const row = await store.asPlatform().first<{ oldest: string }>(
    "SELECT oldest_process() AS oldest",
  );
  if (row!.oldest <= newest) return;
  throw new SchemaTooNew(
    `Cannot use this database: a newer version has brought it to ${
      others.sort().at(-1)
    }, which processes work with ` +
      `from ${row!.oldest} on, and this one ends with ${newest}; install the newer version`,
  );
}

function explain(error: unknown): string {
  if (error instanceof DatabaseNotReady || error instanceof SchemaTooNew) return error.message;
  if (isDatabaseAway(error)) return "The database can't be reached at the moment";
  return "The database does not answer as it should";
}

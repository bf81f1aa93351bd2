import { isDatabaseAway, Problem, withTimeout } from "../contract/mod.ts";
import type { Store } from "./connection.ts";
import { migrations } from "./migrations/mod.ts";

/** Time that a health check waits. A start may wait longer, as on a machine where everything starts at once. */
const CHECK_TIMEOUT_MS = 3_000;
const START_TIMEOUT_MS = 60_000;
/** Time for which an answer counts, so that health checks of strangers cost nothing. */
const CACHED_MS = 1_000;
const UNDEFINED_TABLE = "42P01";
const NO_RIGHT = "42501";

/** Newest answers, by database and role. */
const answers = new WeakMap<
  Store["pool"],
  { readonly at: number; readonly check: Promise<void> }
>();

/**
 * Checks that calls would work: that the database answers, has all tables of this version, and that the role may read them.
 *
 * @param options.isStarting waits a minute, and not the three seconds of a health check
 * @throws {Problem} `Unavailable`: they would not, and why
 */
export async function requireReady(
  store: Pick<Store, "pool" | "asPlatform">,
  { isStarting = false }: { readonly isStarting?: boolean } = {},
): Promise<void> {
  const timeoutMs = isStarting ? START_TIMEOUT_MS : CHECK_TIMEOUT_MS;
  const known = answers.get(store.pool);
  if (known && performance.now() - known.at < CACHED_MS) return await known.check;
  const check = withTimeout(timeoutMs, checkSchema(store)).catch((cause) => {
    throw cause instanceof Problem
      ? cause
      : new Problem("Unavailable", explain(cause), { cause, headers: { "retry-after": "5" } });
  });
  answers.set(store.pool, { at: performance.now(), check });
  await check;
}

async function checkSchema(store: Pick<Store, "asPlatform">): Promise<void> {
  const rows = await store.asPlatform().query<{ name: string }>("SELECT name FROM migrations");
  const applied = new Set(rows.map(({ name }) => name));
  const missing = Object.keys(migrations).filter((name) => !applied.has(name));
  if (missing.length === 0) return;
  throw new Problem(
    "Unavailable",
    `The database lacks ${missing.length} migrations of this version; npm start applies them`,
  );
}

function explain(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === UNDEFINED_TABLE) return "The database has no tables yet; npm start makes them";
  if (code === NO_RIGHT) {
    return "The database's role lacks the rights of this version; npm start grants them";
  }
  if (isDatabaseAway(error)) return "The database can't be reached at the moment";
  return "The database does not answer as it should";
}

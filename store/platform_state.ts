/** State of the platform's own database and ledger. */
import type { Db } from "./connection.ts";

/** Counts the positions of the ledger that the scrub has found broken. */
export async function countOpenBreaks(db: Db): Promise<{ breaks: number; first: number | null }> {
  const row = await db.first(
    "SELECT count(*)::int AS breaks, min(position) AS first FROM ledger_breaks WHERE healed_at IS NULL",
  );
  return { breaks: row!.breaks, first: row!.first === null ? null : Number(row!.first) };
}

/** Returns about how many requests wait to be sealed, and for how long the first of them. */
export async function getOutboxState(
  db: Db,
): Promise<{ waiting: number; oldestSeconds: number }> {
  const row = await db.first(
    `SELECT extract(epoch FROM now() - (payload::json ->> 'timestamp')::timestamptz)::float8 AS seconds,
       (SELECT max(seq) FROM seal_outbox) - seq + 1 AS waiting
     FROM seal_outbox ORDER BY seq LIMIT 1`,
  );
  return { waiting: Number(row?.waiting ?? 0), oldestSeconds: row?.seconds ?? 0 };
}

/** Returns why sealing is held, or undefined where it is not. */
export async function getSealingHold(db: Db): Promise<string | undefined> {
  return (await db.first<{ reason: string }>("SELECT reason FROM ledger_hold"))?.reason;
}

/** Returns the response time of the database server in milliseconds, and how many of its connections are used. */
export async function getDatabaseState(
  db: Db,
): Promise<{ elapsedMs: number; connections: number; maxConnections: number }> {
  const started = performance.now();
  const row = await db.first(
    `SELECT sum(numbackends)::int AS connections, current_setting('max_connections')::int AS max_connections
     FROM pg_stat_database`,
  );
  const elapsedMs = performance.now() - started;
  return { elapsedMs, connections: row!.connections, maxConnections: row!.max_connections };
}

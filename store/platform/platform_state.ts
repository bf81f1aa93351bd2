/** State of the platform's own database and ledger. */
import type { Db } from "../connection.ts";

/** Counts the positions of the ledger that the scrub has found broken. */
export async function countOpenBreaks(db: Db): Promise<{ breaks: number; first: number | null }> {
  const row = await db.first(
    "SELECT count(*)::int AS breaks, min(position) AS first FROM ledger_breaks WHERE healed_at IS NULL",
  );
  return { breaks: row!.breaks, first: row!.first === null ? null : Number(row!.first) };
}

/** About how many requests wait to be sealed, and for how long the first of them. */
export interface OutboxState {
  readonly waiting: number;
  readonly oldestSeconds: number;
}

/** Returns how many requests wait to be sealed. */
export async function getOutboxState(db: Db): Promise<OutboxState> {
  const row = await db.first(
    `SELECT extract(epoch FROM now() - (payload::json ->> 'timestamp')::timestamptz)::float8 AS seconds,
       (SELECT max(seq) FROM seal_outbox) - seq + 1 AS waiting
     FROM seal_outbox ORDER BY seq LIMIT 1`,
  );
  return { waiting: Number(row?.waiting ?? 0), oldestSeconds: row?.seconds ?? 0 };
}

/** Why nothing is sealed, or why the sequencer failed last. */
export interface SealingTrouble {
  readonly reason: string;
  /** True: sealing waits for the operator. False: the sequencer tries again. */
  readonly held: boolean;
  readonly ageSeconds: number;
}

/** Returns why sealing is held or why the sequencer failed last, or undefined where neither is known. */
export async function getSealingTrouble(db: Db): Promise<SealingTrouble | undefined> {
  return await db.first<SealingTrouble & Record<string, unknown>>(
    `SELECT reason, held, extract(epoch FROM now() - at)::float8 AS "ageSeconds" FROM ledger_trouble`,
  );
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

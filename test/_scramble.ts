/** Sessions that keep nothing from one transaction to the next, as those of a pooler by transaction do. */
import type pg from "pg";
import type { Store } from "../store/mod.ts";

/** Query for state that a statement has left on its session. Prepared statements of the protocol don't count: a pooler lets them follow their client. */
const LEFT = `
  SELECT 'setting ' || name AS what FROM pg_settings WHERE source = 'session'
  UNION ALL SELECT 'tenant' WHERE current_setting('sealoop.tenant', true) <> ''
  UNION ALL SELECT 'LISTEN ' || channel FROM pg_listening_channels() AS channel
  UNION ALL SELECT 'advisory lock' FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
  UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''
  UNION ALL SELECT 'PREPARE ' || name FROM pg_prepared_statements WHERE from_sql
  UNION ALL SELECT 'temporary table' WHERE pg_my_temp_schema() <> 0`;
const SCRAMBLE = `RESET ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all();
  DISCARD PLANS; DISCARD SEQUENCES; DISCARD TEMP`;

/** Scrambles the session of each connection whenever it goes back to the pool. @returns what was left on one until then */
export function scrambleSessions({ pool }: Pick<Store, "pool">): {
  readonly left: ReadonlySet<string>;
  /** Number of transactions so far. */
  count(): number;
} {
  const left = new Set<string>();
  let count = 0;
  pool.on("release", (error: Error | undefined, client: pg.PoolClient) => {
    if (error) return;
    count++;
    client.query(LEFT).then(({ rows }) => rows.forEach(({ what }) => left.add(what)), () => {}); // the pool is closed
    client.query(SCRAMBLE).catch(() => {});
  });
  return { left, count: () => count };
}

/** The rows of a tenant, to see whether anything of them has changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type pg from "pg";

/** Changes without a receipt are noticed within two seconds. */
export const QUIET_MS = 3_000;

/** Returns a hash of each table's rows of a tenant. When a key was last used is no change. */
export async function rowsOf(
  superuser: pg.Client,
  tenant: string,
): Promise<Record<string, string>> {
  const { rows: tables } = await superuser.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE a.attname = 'tenant_id' AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
  );
  const hashes: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows: [row] } = await superuser.query(
      `SELECT md5(coalesce(string_agg((to_jsonb(t) - 'last_used_at')::text, '' ORDER BY to_jsonb(t)::text), '')) AS hash
       FROM ${name} t WHERE tenant_id = $1`,
      [tenant],
    );
    hashes[name] = row.hash;
  }
  return hashes;
}

/** Waits until nothing of a tenant changes any more, such as by the spans of its own calls, which are stored later. */
export async function settledRowsOf(
  superuser: pg.Client,
  tenant: string,
): Promise<Record<string, string>> {
  for (let rows = await rowsOf(superuser, tenant);;) {
    await sleep(QUIET_MS);
    const now = await rowsOf(superuser, tenant);
    if (isDeepStrictEqual(now, rows)) return now;
    rows = now;
  }
}

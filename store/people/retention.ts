import type { Db } from "../connection.ts";

/** Deletes links, sessions and challenges of the tenant of `db` that ended this many days ago. */
export async function pruneSignIns(db: Db, days: number): Promise<void> {
  for (const table of ["sign_in_links", "sessions", "passkey_challenges"]) {
    await db.execute(
      `DELETE FROM ${table} WHERE expires_at < now() - make_interval(days => $1)`,
      [days],
    );
  }
}

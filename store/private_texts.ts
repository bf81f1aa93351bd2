import type { Db } from "./connection.ts";

/** Stores texts by their ids. One that is there already counts as used now. */
export async function putPrivateTexts(db: Db, texts: ReadonlyMap<string, string>): Promise<void> {
  const sorted = [...texts].sort(([a], [b]) => a < b ? -1 : 1); // else two statements may wait for each other
  await db.execute({
    name: "put_private_texts",
    text: `INSERT INTO private_texts (id, text) SELECT * FROM unnest($1::text[], $2::text[])
       ON CONFLICT (tenant_id, id) DO UPDATE SET used_at = now()
         WHERE private_texts.used_at < now() - interval '12 hours'`,
  }, [sorted.map(([id]) => id), sorted.map(([, text]) => text)]);
}

/** Returns texts by their ids, as far as they are there. */
export async function getPrivateTexts(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; text: string }>({
    name: "get_private_texts",
    text: "SELECT id, text FROM private_texts WHERE id = ANY ($1)",
  }, [ids]);
  return new Map(rows.map(({ id, text }) => [id, text]));
}

/**
 * Deletes texts that were last used more than some days ago. While an approval is pending, runs that wait for it may have
 * waited for two others before.
 */
export async function prunePrivateTexts(db: Db, days: number): Promise<void> {
  await db.execute(
    `DELETE FROM private_texts WHERE used_at < now() - make_interval(days => $1) - 3 * (
       SELECT make_interval(secs => coalesce(max(expires_in_seconds), 0)) FROM approvals WHERE status = 'pending'
     )`,
    [days],
  );
}

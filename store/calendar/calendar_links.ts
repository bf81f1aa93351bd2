import type { Db } from "../connection.ts";

/** Returns how often a key's link to its calendar was renewed. */
export async function getLinkGeneration(db: Db, keyId: string): Promise<number> {
  const row = await db.first("SELECT generation FROM calendar_links WHERE key_id = $1", [keyId]);
  return row?.generation ?? 0;
}

/** Renews a key's link to its calendar: from now on the one before is nobody's. */
export async function renewLink(db: Db, keyId: string): Promise<void> {
  await db.execute(
    `INSERT INTO calendar_links AS l (key_id, generation) VALUES ($1, 1)
     ON CONFLICT (tenant_id, key_id) DO UPDATE SET generation = l.generation + 1, renewed_at = now()`,
    [keyId],
  );
}

import type { Db } from "../connection.ts";

/** Servers that have what is committed, besides the one that is asked. */
interface StandbyCounts {
  /** Standbys that receive what is committed, some time after. */
  readonly streaming: number;
  /** Those of them that have it on disk before a commit returns. */
  readonly synchronous: number;
}

/** Counts the standbys. @returns undefined where the platform may not see them, see `npm run database -- roles` */
export async function countStandbys(db: Pick<Db, "first">): Promise<StandbyCounts | undefined> {
  const row = await db.first<StandbyCounts & { readonly synchronous: number | null }>(
    "SELECT streaming, synchronous FROM count_standbys()",
  );
  return row!.synchronous === null ? undefined : row!;
}

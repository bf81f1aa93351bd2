import type { Db } from "../store/mod.ts";

/** Inserts rows that all have the same columns, without the functions of `store/`. Other columns get their defaults. */
export async function insertRows(
  db: Db,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const columns = Object.keys(rows[0]!).join(", ");
  await db.execute(
    `INSERT INTO ${table} (${columns})
     SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1)`,
    [JSON.stringify(rows)],
  );
}

import type { Store } from "../../store/mod.ts";
import { COLUMNS, type Row, type StoredReceipt, toReceipts } from "./read.ts";

/** Receipts to list: those that name an id, or those of categories, of a day, or of both. */
export type ReceiptFilter = { readonly name: string } | {
  /** Absent: all. */
  readonly categories?: readonly string[];
  /** Like `2026-07-01`, as receipts say it. */
  readonly day?: string;
};

/** A page of a list. */
interface ListPage {
  /** > 0 */
  readonly limit: number;
  /** Position, exclusive. Default: the end. */
  readonly before?: number;
}

const OF_FOUND = `SELECT ${COLUMNS} FROM receipts
  WHERE position = ANY (ARRAY(SELECT position FROM found)) ORDER BY position DESC`;

const LIST_BY_NAME = {
  name: "list_by_name",
  text: `WITH found AS MATERIALIZED (
           SELECT position FROM receipt_names WHERE name = $1 AND position < $2
           ORDER BY position DESC LIMIT $3
         )
         ${OF_FOUND}`,
};
/*
 * Rows are compared, and ordered by both columns, so that the planner reads an index in its order whatever it estimates:
 * of a rare category it would else walk the whole chain backwards.
 */
const LIST_BY_DAY = {
  name: "list_by_day",
  text: `WITH found AS MATERIALIZED (
           SELECT position FROM receipts
           WHERE (day_of(era, record), position) >= ($1, 0) AND (day_of(era, record), position) < ($1, $2::bigint)
           ORDER BY day_of(era, record) DESC, position DESC LIMIT $3
         )
         ${OF_FOUND}`,
};
const listByCategories = (condition: string) =>
  `WITH found AS MATERIALIZED (
     SELECT r.position FROM unnest($1::text[]) AS c (category) CROSS JOIN LATERAL (
       SELECT position FROM receipts
       WHERE (receipts.category, position) >= (c.category, $4::bigint)
         AND (receipts.category, position) < (c.category, $2::bigint) ${condition}
       ORDER BY receipts.category DESC, position DESC LIMIT $3
     ) AS r
     ORDER BY r.position DESC LIMIT $3
   )
   ${OF_FOUND}`;
const LIST_BY_CATEGORIES = { name: "list_by_categories", text: listByCategories("") };
/** The same of a day, whose positions are next to each other but for what was sealed late. */
const LIST_OF_DAY = {
  name: "list_of_day",
  text: listByCategories("AND day_of(era, record) = $5"),
};
const BOUNDS_OF_DAY = {
  name: "bounds_of_day",
  text: `SELECT
           (SELECT position FROM receipts
            WHERE (day_of(era, record), position) >= ($1, 0) AND day_of(era, record) = $1
            ORDER BY day_of(era, record), position LIMIT 1) AS first,
           (SELECT position FROM receipts
            WHERE (day_of(era, record), position) <= ($1, ${Number.MAX_SAFE_INTEGER}) AND day_of(era, record) = $1
            ORDER BY day_of(era, record) DESC, position DESC LIMIT 1) AS last`,
};

/** Lists receipts by what their public fields say, newest first. Reads an index, however long the chain is. */
export async function listReceiptsBy(
  store: Store,
  filter: ReceiptFilter,
  { limit, before = Number.MAX_SAFE_INTEGER }: ListPage,
): Promise<StoredReceipt[]> {
  return await toReceipts(store, await readRows(store, filter, limit, before));
}

async function readRows(
  store: Store,
  filter: ReceiptFilter,
  limit: number,
  before: number,
): Promise<Row[]> {
  const db = store.asPlatform();
  if ("name" in filter) return await db.query<Row>(LIST_BY_NAME, [filter.name, before, limit]);
  const { categories, day } = filter;
  if (categories === undefined) return await db.query<Row>(LIST_BY_DAY, [day, before, limit]);
  if (day === undefined) {
    return await db.query<Row>(LIST_BY_CATEGORIES, [categories, before, limit, 0]);
  }
  const bounds = await db.first<{ first: string | null; last: string | null }>(
    BOUNDS_OF_DAY,
    [day],
  );
  if (!bounds || bounds.first === null) return [];
  const end = Math.min(before, Number(bounds.last) + 1);
  return await db.query<Row>(LIST_OF_DAY, [categories, end, limit, Number(bounds.first), day]);
}

/** Numbers of receipts by what they say, of a chain of a given size: what was committed behind it does not count. */
import type { Store } from "../../store/mod.ts";

/** Receipts of a day. */
interface DayCount {
  /** Like `2026-07-01`; empty if the receipts have no day. */
  readonly day: string;
  readonly receipts: number;
  readonly categories: Record<string, number>;
}

const BY_CATEGORY = {
  name: "count_by_category",
  text: `SELECT c.category, (c.n - coalesce(beyond.n, 0))::float8 AS n
         FROM ledger_categories AS c LEFT JOIN
           (SELECT category, count(*) AS n FROM receipts WHERE position >= $1 GROUP BY category) AS beyond
           USING (category)
         WHERE c.n > coalesce(beyond.n, 0) ORDER BY n DESC, category`,
};
const DAYS = `SELECT d.day, d.category, d.n - coalesce(beyond.n, 0) AS n
  FROM ledger_days AS d LEFT JOIN
    (SELECT day_of(era, record) AS day, category, count(*) AS n FROM receipts WHERE position >= $1 GROUP BY 1, 2)
    AS beyond USING (day, category)
  WHERE d.n > coalesce(beyond.n, 0)`;
const BY_DAY = {
  name: "count_by_day",
  text: `WITH counted AS (${DAYS})
         SELECT day, sum(n)::float8 AS receipts, json_object_agg(category, n ORDER BY category) AS categories
         FROM counted WHERE day IN (SELECT DISTINCT day FROM counted ORDER BY day DESC LIMIT $2)
         GROUP BY day ORDER BY day`,
};
const OF_DAY = {
  name: "count_of_day",
  text: `WITH counted AS (${DAYS})
         SELECT coalesce(sum(n), 0)::float8 AS n FROM counted
         WHERE day = $2 AND ($3::text[] IS NULL OR category = ANY ($3))`,
};

/** Counts receipts by category, the most frequent first. */
export async function countByCategory(
  store: Store,
  size: number,
): Promise<readonly { readonly category: string; readonly n: number }[]> {
  return await store.asPlatform().query(BY_CATEGORY, [size]);
}

/** Counts receipts by day and category, the oldest day first. @param days with receipts, back from the newest */
export async function countByDay(
  store: Store,
  { days, size }: { readonly days: number; readonly size: number },
): Promise<DayCount[]> {
  return await store.asPlatform().query<DayCount & Record<string, unknown>>(BY_DAY, [size, days]);
}

/** Counts receipts of categories, of a day, or of both, without reading them. */
export async function countReceiptsBy(
  store: Store,
  { categories, day }: { readonly categories?: readonly string[]; readonly day?: string },
  size: number,
): Promise<number> {
  if (day === undefined) {
    const counted = await countByCategory(store, size);
    return counted.reduce(
      (sum, { category, n }) => categories!.includes(category) ? sum + n : sum,
      0,
    );
  }
  const row = await store.asPlatform().first(OF_DAY, [size, day, categories ?? null]);
  return row!.n;
}

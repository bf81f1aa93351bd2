import { batch } from "./batch.ts";
import type { Db } from "./connection.ts";

/** One use of something that is limited per period. */
export interface Use {
  /** Key id or client address. */
  readonly subject: string;
  /** The kind of use that is counted, e.g. `requests` or `tools`. */
  readonly kind: string;
  /** Most uses in a period, ≥ 0. */
  readonly limit: number;
  /** Length of a period in seconds; periods start at multiples of it since 1970, so that days are UTC days. */
  readonly periodSeconds: number;
}

/** The count after one use. */
export interface UsageCount {
  /** True where the use is within its limit. A refused use is not counted. */
  readonly allowed: boolean;
  /** Uses left in this period, ≥ 0. */
  readonly remaining: number;
  /** Seconds until the period ends, > 0. */
  readonly resetSeconds: number;
}

/** Counts uses against limits, over all processes. */
export interface UsageMeter {
  /** Counts one use, if it is within its limit. */
  count(use: Use): Promise<UsageCount>;
}

/**
 * Opens a meter. It counts exactly: of N + 1 uses at once against a limit of N, in whatever processes, N are allowed.
 *
 * Uses that arrive together are counted by one statement. Its commit does not wait for the disk, so a crash of the
 * server may forget the uses of its last instants.
 */
export function openUsageMeter(db: Db): UsageMeter {
  return { count: batch((uses: Use[]) => takeUsage(db, uses)) };
}

/** Removes the counts of periods that began more than two days ago. */
export async function pruneUsage(db: Db): Promise<void> {
  await db.execute("DELETE FROM usage WHERE period_start < now() - interval '2 days'");
}

/** Uses of the same limit. */
interface Group extends Use {
  readonly startMs: number;
  /** Places of these uses in the batch. */
  readonly places: number[];
}

const TAKE_USAGE = {
  name: "take_usage",
  text: "SELECT used_before FROM take_usage($1, $2, $3, $4, $5)",
};

async function takeUsage(db: Db, uses: readonly Use[]): Promise<UsageCount[]> {
  const groups = groupByLimit(uses);
  const rows = await db.query<{ used_before: string }>(TAKE_USAGE, [
    groups.map(({ subject }) => subject),
    groups.map(({ kind }) => kind),
    groups.map(({ startMs }) => new Date(startMs).toISOString()),
    groups.map(({ places }) => places.length),
    groups.map(({ limit }) => limit),
  ]);
  const counts: UsageCount[] = [];
  groups.forEach(({ places, limit, startMs, periodSeconds }, n) => {
    const usedBefore = Number(rows[n]!.used_before);
    const resetSeconds = Math.max(1, Math.ceil((startMs - Date.now()) / 1000 + periodSeconds));
    places.forEach((place, nth) => {
      const used = usedBefore + nth + 1;
      counts[place] = {
        allowed: used <= limit,
        remaining: Math.max(0, limit - used),
        resetSeconds,
      };
    });
  });
  return counts;
}

function groupByLimit(uses: readonly Use[]): Group[] {
  const groups = new Map<string, Group>();
  uses.forEach((use, place) => {
    const { subject, kind, limit, periodSeconds } = use;
    const key = JSON.stringify([subject, kind, limit, periodSeconds]);
    const periodMs = periodSeconds * 1000;
    const group = groups.get(key) ??
      { ...use, startMs: Math.floor(Date.now() / periodMs) * periodMs, places: [] };
    group.places.push(place);
    groups.set(key, group);
  });
  return [...groups.values()];
}

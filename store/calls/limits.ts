import { batch } from "../batch.ts";
import type { Db } from "../connection.ts";

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
  /** Part of the limit that one use takes, > 0; default: 1. */
  readonly amount?: number;
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
  /** Counts one use, if all of it is within its limit. */
  count(use: Use): Promise<UsageCount>;
  /** Returns the count of a limit that is known to be used up, without asking the database; undefined: it may not be. */
  usedUp(use: Use): UsageCount | undefined;
}

/**
 * Opens a meter. It counts exactly: of N + 1 uses at once against a limit of N, in whatever processes, N are allowed.
 *
 * Uses that arrive together are counted by one statement. Its commit does not wait for the disk, so a crash of the
 * server may forget the uses of its last instants. A limit that is used up is remembered until its period ends, so that
 * whoever goes on asking costs the database nothing.
 */
export function openUsageMeter(db: Db): UsageMeter {
  const take = batch((uses: Use[]) => takeUsage(db, uses));
  /** Ends of the periods of limits that are used up, in ms. */
  const ends = new Map<string, number>();

  function usedUp(use: Use): UsageCount | undefined {
    const leftMs = (ends.get(nameOf(use)) ?? 0) - Date.now();
    if (leftMs <= 0) return undefined;
    return { allowed: false, remaining: 0, resetSeconds: ceilSeconds(leftMs) };
  }

  return {
    usedUp,
    async count(use) {
      const known = usedUp(use);
      if (known) return known;
      const count = await take(use);
      if (!count.allowed && count.remaining === 0) {
        if (ends.size >= MAX_USED_UP) ends.clear();
        ends.set(nameOf(use), periodStartOf(use) + use.periodSeconds * 1000);
      }
      return count;
    },
  };
}

function nameOf({ subject, kind, limit, periodSeconds }: Use): string {
  return JSON.stringify([subject, kind, limit, periodSeconds]);
}

const MAX_USED_UP = 10_000;
const ceilSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

/** Returns when the period of a use began, in ms. */
function periodStartOf({ periodSeconds }: Use): number {
  const periodMs = periodSeconds * 1000;
  return Math.floor(Date.now() / periodMs) * periodMs;
}

/** Removes the counts of periods that began more than two days ago. */
export async function pruneUsage(db: Db): Promise<void> {
  await db.execute("DELETE FROM usage WHERE period_start < now() - interval '2 days'");
}

/** Uses of the same limit. */
interface Group extends Use {
  readonly amount: number;
  readonly startMs: number;
  /** Places of these uses in the batch. */
  readonly places: number[];
}

const TAKE_USAGE = {
  name: "take_usage",
  text: "SELECT used_before FROM take_usage($1, $2, $3, $4, $5, $6)",
};

async function takeUsage(db: Db, uses: readonly Use[]): Promise<UsageCount[]> {
  const groups = groupByLimit(uses);
  const rows = await db.query<{ used_before: string }>(TAKE_USAGE, [
    groups.map(({ subject }) => subject),
    groups.map(({ kind }) => kind),
    groups.map(({ startMs }) => new Date(startMs).toISOString()),
    groups.map(({ places }) => places.length),
    groups.map(({ amount }) => amount),
    groups.map(({ limit }) => limit),
  ]);
  const counts: UsageCount[] = [];
  groups.forEach(({ places, amount, limit, startMs, periodSeconds }, n) => {
    const usedBefore = Number(rows[n]!.used_before);
    const fitting = Math.max(0, Math.floor((limit - usedBefore) / amount));
    const resetSeconds = ceilSeconds(startMs + periodSeconds * 1000 - Date.now());
    places.forEach((place, nth) => {
      const taken = usedBefore + Math.min(nth + 1, fitting) * amount;
      counts[place] = {
        allowed: nth < fitting,
        remaining: Math.max(0, limit - taken),
        resetSeconds,
      };
    });
  });
  return counts;
}

function groupByLimit(uses: readonly Use[]): Group[] {
  const groups = new Map<string, Group>();
  uses.forEach((use, place) => {
    const { subject, kind, limit, periodSeconds, amount = 1 } = use;
    const key = JSON.stringify([subject, kind, limit, periodSeconds, amount]);
    const group = groups.get(key) ?? { ...use, amount, startMs: periodStartOf(use), places: [] };
    group.places.push(place);
    groups.set(key, group);
  });
  return [...groups.values()];
}

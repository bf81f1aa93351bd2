import type { Store } from "./connection.ts";

/** One use that wants to be counted. */
export interface Use {
  /** Key id or client address. */
  readonly subject: string;
  /** What is counted, e.g. `requests` or `tools`. */
  readonly kind: string;
  /** Most uses in a period, ≥ 0. */
  readonly limit: number;
  /** Length of a period in seconds; periods start at multiples of it since 1970, so that days are UTC days. */
  readonly periodSeconds: number;
}

/** Whether a use was within its limit. */
export interface UsageCount {
  readonly allowed: boolean;
  /** Uses left in this period, ≥ 0. */
  readonly remaining: number;
  /** Seconds until the period ends, > 0. */
  readonly resetSeconds: number;
}

/** A use in the period that is now, as the database counts it. */
export interface Taking {
  readonly subject: string;
  readonly kind: string;
  /** Start of the period, ISO 8601. */
  readonly start: string;
  readonly limit: number;
}

/** A use as it is now. */
export function takingOf({ subject, kind, limit, periodSeconds }: Use): Taking {
  return { subject, kind, start: startOf(periodSeconds).toISOString(), limit };
}

/** What a use was told. @param used uses in the period with this one; null: it was refused, and so not counted */
export function countOf(
  { limit, periodSeconds }: Use,
  { start }: Taking,
  used: number | null,
): UsageCount {
  return {
    allowed: used !== null,
    remaining: Math.max(0, limit - (used ?? limit)),
    resetSeconds: secondsLeft(Date.parse(start), periodSeconds),
  };
}

function startOf(periodSeconds: number): Date {
  const length = periodSeconds * 1000;
  return new Date(Math.floor(Date.now() / length) * length);
}

function secondsLeft(start: number, periodSeconds: number): number {
  return Math.max(1, Math.ceil((start + periodSeconds * 1000 - Date.now()) / 1000));
}

/** Counts uses against limits, exactly, over all processes. */
export interface UsageMeter {
  /** Counts one use: of N + 1 at once, exactly N are allowed. A refused one is not counted. */
  count(use: Use): Promise<UsageCount>;
  /** Forgets periods that ended more than two days ago. */
  prune(): Promise<void>;
}

interface Waiting {
  readonly use: Use;
  readonly resolve: (count: UsageCount) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens a meter. Uses that arrive while a statement is under way are counted together by the next one, so that a
 * busy server pays one small commit for many calls. The commit does not wait for the disk: after a power cut the
 * last instants of counting may be lost, never more.
 */
export function openUsageMeter(store: Store): UsageMeter {
  let waiting: Waiting[] = [];
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await settle(store, batch);
    }
    running = false;
  }

  return {
    count: (use) =>
      new Promise((resolve, reject) => {
        waiting.push({ use, resolve, reject });
        if (!running) void drain();
      }),
    prune: async () => {
      await store.pool.query("DELETE FROM usage WHERE period_start < now() - interval '2 days'");
    },
  };
}

interface Group {
  readonly start: Date;
  readonly periodSeconds: number;
  readonly limit: number;
  readonly waiting: Waiting[];
}

async function settle(store: Store, batch: readonly Waiting[]): Promise<void> {
  const groups = [...group(batch).values()];
  try {
    const { rows } = await store.pool.query({
      name: "take_usage",
      text: "SELECT used_before FROM take_usage($1, $2, $3, $4, $5)",
      values: [
        groups.map((g) => g.waiting[0]!.use.subject),
        groups.map((g) => g.waiting[0]!.use.kind),
        groups.map((g) => g.start.toISOString()),
        groups.map((g) => g.waiting.length),
        groups.map((g) => g.limit),
      ],
    });
    groups.forEach((g, i) => tell(g, Number(rows[i].used_before)));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

function group(batch: readonly Waiting[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const entry of batch) {
    const { subject, kind, limit, periodSeconds } = entry.use;
    const key = JSON.stringify([subject, kind, limit, periodSeconds]);
    const found = groups.get(key);
    if (found) found.waiting.push(entry);
    else groups.set(key, { start: startOf(periodSeconds), periodSeconds, limit, waiting: [entry] });
  }
  return groups;
}

function tell({ start, periodSeconds, limit, waiting }: Group, usedBefore: number): void {
  const resetSeconds = secondsLeft(start.getTime(), periodSeconds);
  waiting.forEach(({ resolve }, i) => {
    const used = usedBefore + i + 1;
    resolve({ allowed: used <= limit, remaining: Math.max(0, limit - used), resetSeconds });
  });
}

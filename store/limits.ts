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
export interface Count {
  readonly allowed: boolean;
  /** Uses left in this period, ≥ 0. */
  readonly remaining: number;
  /** Seconds until the period ends, > 0. */
  readonly resetSeconds: number;
}

/** Counts uses against limits, exactly, over all processes. */
export interface Meter {
  /** Counts one use: of N + 1 at once, exactly N are allowed. A refused one is not counted. */
  count(use: Use): Promise<Count>;
  /** Forgets periods that ended more than two days ago. */
  prune(): Promise<void>;
}

interface Waiting {
  readonly use: Use;
  readonly resolve: (count: Count) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens a meter. Uses that arrive while a statement is under way are counted together by the next one, so that a
 * busy server pays one small commit for many calls. The commit does not wait for the disk: after a power cut the
 * last instants of counting may be lost, never more.
 */
export function openMeter(store: Store): Meter {
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
  const now = Date.now();
  const groups = new Map<string, Group>();
  for (const entry of batch) {
    const { subject, kind, limit, periodSeconds } = entry.use;
    const length = periodSeconds * 1000;
    const start = new Date(Math.floor(now / length) * length);
    const key = JSON.stringify([subject, kind, limit, periodSeconds]);
    const found = groups.get(key);
    if (found) found.waiting.push(entry);
    else groups.set(key, { start, periodSeconds, limit, waiting: [entry] });
  }
  return groups;
}

function tell({ start, periodSeconds, limit, waiting }: Group, usedBefore: number): void {
  const ends = start.getTime() + periodSeconds * 1000;
  const resetSeconds = Math.max(1, Math.ceil((ends - Date.now()) / 1000));
  waiting.forEach(({ resolve }, i) => {
    const used = usedBefore + i + 1;
    resolve({ allowed: used <= limit, remaining: Math.max(0, limit - used), resetSeconds });
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import { batch, type Db } from "../store/mod.ts";
import {
  type CallSpan,
  getSpanFigures,
  recordCallSpans,
  type SpanFigures,
} from "../store/platform/mod.ts";

/** Stores spans, and counts them. */
export interface SpanRecorder {
  /** Stores a span soon. Nobody waits for it, and what can't be stored is lost. */
  record(span: CallSpan): void;
  /** Returns the counts of a tenant's spans of the last 24 hours, at most 30 seconds old. */
  figures(db: Db): Promise<SpanFigures>;
  /** Stores what waits. */
  close(): Promise<void>;
}

/** Calls that end meanwhile share one statement. */
const PAUSE_MS = 500;
const MAX_SIZE = 1_000;
const MAX_WAITING = 20_000;
const CACHE_MS = 30_000;
const MAX_CACHED = 1_000;

/** Opens a recorder. What waits longer than the database is fast enough for is lost before it costs memory. */
export function openSpanRecorder(db: Db): SpanRecorder {
  let waiting = 0;
  const closing = new AbortController();
  const store = batch(async (spans: CallSpan[]) => {
    await recordCallSpans(db, spans);
    await sleep(PAUSE_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    return spans.map(() => undefined);
  }, { maxSize: MAX_SIZE });
  const cache = new Map<
    string,
    { readonly atMs: number; readonly figures: Promise<SpanFigures> }
  >();
  let last: Promise<void> = Promise.resolve();
  return {
    record(span) {
      if (waiting >= MAX_WAITING) return;
      waiting++;
      last = store(span).catch(() => {}).finally(() => waiting--);
    },
    figures(db) {
      const cached = cache.get(db.tenant);
      if (cached && performance.now() - cached.atMs < CACHE_MS) return cached.figures;
      if (cache.size >= MAX_CACHED) cache.clear();
      const figures = getSpanFigures(db);
      cache.set(db.tenant, { atMs: performance.now(), figures });
      figures.catch(() => cache.delete(db.tenant));
      return figures;
    },
    async close() {
      closing.abort();
      await last;
    },
  };
}

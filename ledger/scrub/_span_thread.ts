import type { Store } from "../../store/mod.ts";
import { startThread } from "../threads/mod.ts";
import { type SpanRequest, type SpanResult, verifySpan } from "./_span.ts";
import type { SpanAnswer, SpanSource } from "./_span_worker.ts";

/** An order that can be sent to a thread. */
export type PlainOrder = Omit<SpanRequest, "signal" | "onLeaf">;

/** Verifies span after span of a chain, and keeps this process free for its requests. */
export interface SpanVerifier {
  /** @throws {Error} the database is away, or it was closed */
  verify(order: PlainOrder): Promise<SpanResult>;
  close(): Promise<void>;
}

/** From so many receipts on a thread is worth starting: it takes some 200 ms and 20 MB. */
const MANY = 5_000;

/** @param count of receipts that are to be verified */
export function openSpanVerifier(
  store: Store,
  count: number,
  signal: AbortSignal,
): SpanVerifier {
  if (count < MANY) {
    return {
      verify: (order) => verifySpan(store, { ...order, signal }),
      close: () => Promise.resolve(),
    };
  }
  const { url, role } = store;
  const source: SpanSource = { url, role };
  const thread = startThread<PlainOrder, SpanAnswer>(
    new URL("./_span_worker.ts", import.meta.url),
    source,
  );
  const close = () => thread.close();
  signal.addEventListener("abort", close);
  return {
    async verify(order) {
      signal.throwIfAborted();
      const answer = await thread.ask(order);
      if ("error" in answer) throw new Error(answer.error);
      return answer;
    },
    async close() {
      signal.removeEventListener("abort", close);
      await close();
    },
  };
}

/** Verifies what comes in: here, or where much comes in a thread that stays for as long as that is so. */
export interface ArrivalVerifier {
  /** Whether there is a thread. */
  readonly threaded: boolean;
  /** @throws {Error} the database is away, or it was closed */
  verify(order: PlainOrder): Promise<SpanResult>;
  close(): Promise<void>;
}

/** More receipts than that, in about that time, hold up requests longer than a thread costs. */
const MANY_ARRIVE = 500;
const WINDOW_MS = 10_000;

/** @param idleMs milliseconds that the thread is kept after the last time that much came */
export function openArrivalVerifier(
  store: Store,
  signal: AbortSignal,
  idleMs = 30_000,
): ArrivalVerifier {
  const here = openSpanVerifier(store, 0, signal);
  let thread: SpanVerifier | undefined;
  let closing: NodeJS.Timeout | undefined;
  let lastMany = 0;
  let last = performance.now();
  let recent = 0;

  const close = async () => {
    clearTimeout(closing);
    const old = thread;
    thread = undefined;
    await old?.close();
  };

  function areMany(waiting: number): boolean {
    const now = performance.now();
    recent *= Math.exp((last - now) / WINDOW_MS); // forgotten by and by
    last = now;
    if (recent + waiting <= MANY_ARRIVE) return false;
    lastMany = now;
    return true;
  }

  return {
    get threaded() {
      return thread !== undefined;
    },
    async verify(order) {
      if (areMany(order.to - order.from.position)) {
        thread ??= openSpanVerifier(store, Infinity, signal);
      }
      if (!thread) return count(await here.verify(order), order);
      clearTimeout(closing);
      try {
        const span = await thread.verify(order);
        const idle = performance.now() - lastMany;
        closing = setTimeout(close, Math.max(0, idleMs - idle)).unref();
        return count(span, order);
      } catch (error) {
        await close(); // it may have ended; the next time starts another
        throw error;
      }
    },
    close,
  };

  function count(span: SpanResult, { from }: PlainOrder): SpanResult {
    recent += span.place.position - from.position;
    return span;
  }
}

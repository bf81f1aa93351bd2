import type { Store } from "../store/mod.ts";
import { type SpanOrder, type VerifiedSpan, verifySpan } from "./_span.ts";
import type { SpanAnswer, SpanSource } from "./_span_worker.ts";
import { startThread } from "./_thread.ts";

/** An order that can be sent to a thread. */
export type PlainOrder = Omit<SpanOrder, "signal" | "onLeaf">;

/** Verifies span after span of a chain, and keeps this process free for its requests. */
export interface SpanVerifier {
  /** @throws {Error} the database is away, or it was closed */
  verify(order: PlainOrder): Promise<VerifiedSpan>;
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
  const thread = startThread<PlainOrder, SpanAnswer>("_span_worker", source);
  const close = () => thread.close();
  signal.addEventListener("abort", close);
  return {
    async verify(order) {
      signal.throwIfAborted();
      const answer = await thread.ask(order, []);
      if ("error" in answer) throw new Error(answer.error);
      return answer;
    },
    async close() {
      signal.removeEventListener("abort", close);
      await close();
    },
  };
}

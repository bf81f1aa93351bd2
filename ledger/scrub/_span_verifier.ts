import type { Store } from "../../store/mod.ts";
import { getRootKeyFile } from "../receipts/mod.ts";
import { startThread, type Thread } from "../threads/mod.ts";
import { type SpanRequest, type SpanResult, verifySpan } from "./_span.ts";
import type { SpanAnswer, SpanSource } from "./_span_worker.ts";

/** Verifies parts of the chain, one after another. */
export interface SpanVerifier {
  /** @throws {Error} the database is unavailable, or the verifier is closed */
  verify(request: SpanRequest): Promise<SpanResult>;
  close(): Promise<void>;
}

/** Opens a verifier that works in this thread. */
export function openVerifier(store: Store, signal: AbortSignal): SpanVerifier {
  return {
    verify: (request) => verifySpan(store, request, { signal }),
    close: () => Promise.resolve(),
  };
}

/**
 * Opens a verifier that works in a thread of its own, so that verifying does not delay requests. The thread starts with
 * the first part; after an error another one starts with the next part.
 */
export function openThreadedVerifier(store: Store, signal: AbortSignal): SpanVerifier {
  const { url, role } = store;
  const source: SpanSource = { url, role, rootKeyFile: getRootKeyFile(store) };
  let thread: Thread<SpanRequest, SpanAnswer> | undefined;

  async function close(): Promise<void> {
    const old = thread;
    thread = undefined;
    await old?.close();
  }

  signal.addEventListener("abort", close, { once: true });
  return {
    async verify(request) {
      signal.throwIfAborted();
      const current = thread ??= startThread("ledger/scrub/_span_worker.ts", source);
      try {
        const answer = await current.ask(request);
        if ("error" in answer) throw new Error(answer.error);
        return answer;
      } catch (error) {
        if (thread === current) await close();
        throw error;
      }
    },
    close,
  };
}

import { programPath } from "../../config.ts";
import type { Store } from "../../store/mod.ts";
import { getRootKeyFile } from "../receipts/mod.ts";
import { startThread, type Thread, ThreadEnded } from "../threads/mod.ts";
import { type SpanRequest, type SpanResult, verifySpan } from "./_span.ts";
import type { SpanSource } from "./_span_worker.ts";

/** Verifies parts of the chain; several at once, where it is asked to. */
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
 * the first part; where it has failed, another one starts with the next part.
 */
export function openThreadedVerifier(store: Store, signal: AbortSignal): SpanVerifier {
  const { url, role } = store;
  const source: SpanSource = { url, role, rootKeyFile: getRootKeyFile(store) };
  const program = programPath("ledger/scrub/_span_worker.ts");
  let thread: Thread<SpanRequest, SpanResult> | undefined;

  async function close(): Promise<void> {
    const old = thread;
    thread = undefined;
    await old?.close();
  }

  signal.addEventListener("abort", close, { once: true });
  return {
    async verify(request) {
      signal.throwIfAborted();
      const current = thread ??= startThread(program, source);
      try {
        return await current.ask(request);
      } catch (error) {
        if (error instanceof ThreadEnded && thread === current) thread = undefined;
        throw error;
      }
    },
    close,
  };
}

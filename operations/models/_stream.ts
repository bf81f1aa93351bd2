/** An answer of a model as a stream of events: in the provider's form, and at last an event with what it has cost. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelCall } from "./use/mod.ts";
import { asProblem, type StreamEvent } from "../../contract/mod.ts";
import type { ModelProvider } from "../../contract/domain/mod.ts";
import { createEventFormat } from "./_events.ts";
import { toOutput } from "./_output.ts";

/** Pause after which a stream shows that it lives. */
const HEARTBEAT_MS = 15_000;

/**
 * Begins an answer, and returns its events.
 *
 * @throws {Problem} the model does not begin to answer
 */
export async function beginStream(
  { id, model, answer }: ModelCall,
  provider: ModelProvider,
): Promise<AsyncGenerator<StreamEvent>> {
  const format = createEventFormat(provider, id, model);
  const first = await answer.next();

  async function* events(): AsyncGenerator<StreamEvent> {
    try {
      yield* format.start;
      let pending: ReturnType<typeof answer.next> = Promise.resolve(first);
      for (;;) {
        const piece = await nextOrPause(pending);
        if (!piece) {
          yield {};
          continue;
        }
        if (piece.done) {
          yield* format.end(piece.value);
          yield { event: "sealoop", data: JSON.stringify(toOutput(piece.value)) };
          return;
        }
        if (piece.value !== "") yield format.text(piece.value);
        pending = answer.next();
      }
    } catch (error) {
      const { name, message, body } = asProblem(error);
      const { receipt_id } = body;
      const data = { type: "error", error: { type: name, message }, receipt_id };
      yield { event: "error", data: JSON.stringify(data) };
    } finally {
      await answer.return(undefined as never); // a client that has left is billed for what was made
    }
  }
  return events();
}

/** Waits for a piece. @returns undefined after a pause without one */
async function nextOrPause<T>(pending: Promise<T>): Promise<T | undefined> {
  const pause = new AbortController();
  const paused = sleep(HEARTBEAT_MS, undefined, { signal: pause.signal }).catch(() => undefined);
  try {
    return await Promise.race([pending, paused]);
  } finally {
    pause.abort();
  }
}

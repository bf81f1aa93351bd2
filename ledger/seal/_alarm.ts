import type pg from "pg";

/** Wakes the pipeline when there may be work. */
export interface Alarm {
  /** Resolves after a notification, {@linkcode ring}, the signal's end, or the interval of the safety poll. */
  wait(): Promise<void>;
  ring(): void;
}

const SAFETY_POLL_MS = 1_000;
/**
 * Time for which requests that nobody waits for are gathered into one batch. A batch of one receipt costs the sequencer,
 * the database and every reader of the chain about as much as one of twenty. Without gathering a tool call takes a fifth
 * longer.
 */
const GATHER_MS = 100;

/**
 * Listens for requests: those that somebody waits for (payload `now`) ring at once, others after {@linkcode GATHER_MS}.
 *
 * @param client a connection of the caller; closing it ends the listening
 */
export async function listenForRequests(client: pg.Client, signal: AbortSignal): Promise<Alarm> {
  let rung = false;
  let wake = () => {};
  let gathering: NodeJS.Timeout | undefined;
  const ring = () => {
    rung = true;
    wake();
  };
  client.on("notification", ({ payload }) => {
    if (payload === "now") return ring();
    gathering ??= setTimeout(() => {
      gathering = undefined;
      ring();
    }, GATHER_MS).unref();
  });
  signal.addEventListener("abort", ring, { once: true });
  await client.query("LISTEN sealoop_outbox");
  return {
    ring,
    async wait() {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, SAFETY_POLL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
    },
  };
}

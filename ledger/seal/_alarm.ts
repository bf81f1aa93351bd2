import type pg from "pg";

/** Waits for work. */
export interface Alarm {
  /** Waits until there may be work: a notification, the safety poll, the end, or {@linkcode Alarm.ring}. */
  wait(): Promise<void>;
  ring(): void;
}

const SAFETY_POLL_MS = 1_000;
/**
 * Milliseconds for which requests are gathered that nobody waits for. A batch costs the sequencer, the database and all
 * that watch the chain about as much for one receipt as for twenty: without it a tool call takes a fifth longer.
 */
const GATHER_MS = 100;

/**
 * Listens for requests: those that somebody waits for (payload `now`) ring at once, others after {@linkcode GATHER_MS}.
 *
 * @param client a connection of the caller's, which also ends the listening
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
  signal.addEventListener("abort", ring);
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

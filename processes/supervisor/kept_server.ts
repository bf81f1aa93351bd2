import { setTimeout as sleep } from "node:timers/promises";
import { EmbeddedError } from "../../runtime/embedded/mod.ts";
import { restartDelays, STABLE_MS } from "./_restart_delays.ts";

/** A server that runs. */
export interface RunningServer {
  /** Resolves when the server has ended, with the reason as far as its log tells. */
  readonly ended: Promise<string>;
}

/** A server that is restarted when it ends. */
export interface KeptServer<S extends RunningServer> {
  /** Returns the server that runs, or the last one that ran. */
  current(): S;
  /** Returns how often it was started again. */
  restarts(): number;
  /** Returns false between its end and its next start. */
  isRunning(): boolean;
  /** Leaves the server ended when it ends from now on. */
  stopRestarting(): void;
}

/** A server and where its news go. */
export interface ServerOptions<S extends RunningServer> {
  /** Name for people: `PostgreSQL`. */
  readonly title: string;
  /** Path of its log. */
  readonly log: string;
  /** Starts the server on the same data and the same ports; resolves when it answers. */
  start(): Promise<S>;
  /** Prints a line for the operator. */
  print(text: string): void;
  /** Called when the server cannot be kept running and the platform has to stop. */
  fail(error: EmbeddedError): void;
  /** After a life of this length it is restarted without a longer delay, milliseconds; default a minute. */
  readonly stableMs?: number;
}

/** After more short lives in a row the server is given up: a minute of trying. */
const MAX_SHORT_LIVES = 7;

/**
 * Starts a server and restarts it when it ends without being asked to; its clients bear its absence.
 *
 * @throws {EmbeddedError} it cannot start the first time, which is not tried again
 */
export async function keepServer<S extends RunningServer>(
  { title, log, start, print, fail, stableMs = STABLE_MS }: ServerOptions<S>,
): Promise<KeptServer<S>> {
  let isKept = true;
  let restarts = 0;
  let isRunning = true;
  let server = await start();
  const delays = restartDelays(stableMs);

  async function keepRunning(): Promise<void> {
    let startedAt = Date.now();
    let reason = await server.ended;
    while (isKept) {
      isRunning = false;
      const delay = delays.next(Date.now() - startedAt);
      if (delays.shortLifeCount() > MAX_SHORT_LIVES) {
        return fail(new EmbeddedError(`${title} ended: ${reason}`));
      }
      print(`${title} ended (${reason}); restarting it in ${delay / 1000} s · tail ${log}`);
      await sleep(delay);
      if (!isKept) return;
      startedAt = Date.now();
      try {
        server = await start();
        restarts++;
        isRunning = true;
        print(`${title} was started again · npm run now`);
        startedAt = Date.now();
        reason = await server.ended;
      } catch (error) {
        reason = (error as Error).message;
        startedAt = Date.now();
      }
    }
  }
  void keepRunning();
  return {
    current: () => server,
    restarts: () => restarts,
    isRunning: () => isRunning,
    stopRestarting: () => {
      isKept = false;
    },
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { EmbeddedError } from "../../embedded/mod.ts";
import { pauses, STEADY_MS } from "./_pauses.ts";

/** A server that runs. */
export interface RunningServer {
  /** Settles when it has ended, with the reason as far as its log tells. */
  readonly ended: Promise<string>;
}

/** A server that is kept running. */
export interface KeptServer<S extends RunningServer> {
  /** The one that runs, or the last one that ran. */
  current(): S;
  /** From here on it is left ended when it ends. */
  retire(): void;
}

/** What a server is, and whom to tell about it. */
export interface ServerOptions<S extends RunningServer> {
  /** For people: `PostgreSQL`. */
  readonly title: string;
  /** Starts it on the same data and the same ports; gives it when it answers. */
  start(): Promise<S>;
  /** Tells a person what happened. */
  say(text: string): void;
  /** Told when it can't be kept running, so that there is no sense in going on. */
  fail(error: EmbeddedError): void;
  /** How long it has to live to be started again without a longer pause, milliseconds; default a minute. */
  readonly steadyMs?: number;
}

/** Short lives in a row after which a server is given up: a minute of trying. */
const MOST_SHORT_LIVES = 7;

/**
 * Starts a server. When it ends later without being asked to, it is started again: its clients bear its absence.
 *
 * @throws {EmbeddedError} it can't start the first time, which is not tried again
 */
export async function keepServer<S extends RunningServer>(
  { title, start, say, fail, steadyMs = STEADY_MS }: ServerOptions<S>,
): Promise<KeptServer<S>> {
  let retired = false;
  let server = await start();
  const pausing = pauses(steadyMs);

  async function keep(): Promise<void> {
    const began = Date.now();
    let reason = await server.ended;
    let lived = Date.now() - began;
    while (!retired) {
      const pause = pausing.after(lived);
      if (pausing.short() > MOST_SHORT_LIVES) {
        return fail(new EmbeddedError(`${title} ended: ${reason}`));
      }
      say(`${title} ended (${reason}); starting it again in ${pause / 1000} s`);
      await sleep(pause);
      if (retired) return;
      try {
        server = await start();
        say(`${title} is back`);
        const back = Date.now();
        reason = await server.ended;
        lived = Date.now() - back;
      } catch (error) {
        reason = (error as Error).message;
        lived = 0;
      }
    }
  }
  void keep();
  return {
    current: () => server,
    retire: () => {
      retired = true;
    },
  };
}

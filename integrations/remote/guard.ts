import { setTimeout as sleep } from "node:timers/promises";
import { type CircuitBreaker, openCircuitBreaker } from "./circuit_breaker.ts";
import { RemoteFailed } from "./errors.ts";

/** Limits how a system of others is asked, whatever the protocol. */
export interface Guard {
  /** Reads. What fails for a moment is tried again after a pause, within the time limit. @throws {RemoteFailed} */
  read<T>(work: (msLeft: number) => Promise<T>): Promise<T>;
  /** Acts, with one attempt. @throws {RemoteFailed} its `outcome` tells whether it may have been done */
  act<T>(work: (msLeft: number) => Promise<T>): Promise<T>;
  /** Describes that the system is not asked for now, as it failed again and again; undefined: it is asked. */
  pause(): string | undefined;
}

/** The system, and its limits. */
export interface GuardOptions {
  /** Name for people: `OPA`. */
  readonly system: string;
  /** For a read with all its attempts, or for an act. */
  readonly timeoutMs?: number;
  readonly breaker?: CircuitBreaker;
}

const TIMEOUT_MS = 2_500;
const MAX_ATTEMPTS = 3;
const PAUSE_MS = 100;

/** Opens the guard of one system. */
export function openGuard(
  { system, timeoutMs = TIMEOUT_MS, breaker = openCircuitBreaker() }: GuardOptions,
): Guard {
  /** Works once, unless the system is paused. */
  async function attempt<T>(work: (msLeft: number) => Promise<T>, msLeft: number): Promise<T> {
    const waitMs = breaker.enter();
    if (waitMs > 0) throw new RemoteFailed(system, "paused", describePause(waitMs), "not_done");
    try {
      const result = await work(msLeft);
      breaker.succeed();
      return result;
    } catch (error) {
      // A system that refuses what it is asked for works.
      if (error instanceof RemoteFailed && error.code === "refused") breaker.succeed();
      else breaker.fail(error instanceof RemoteFailed ? error.retryAfterMs : undefined);
      throw error;
    }
  }

  return {
    async read(work) {
      const deadline = performance.now() + timeoutMs;
      let failure: unknown;
      for (let n = 1;; n++) {
        try {
          return await attempt(work, Math.max(1, Math.floor(deadline - performance.now())));
        } catch (error) {
          // Others may have failed meanwhile, so that it is paused; the failure of this read tells more.
          if (n > 1 && error instanceof RemoteFailed && error.code === "paused") throw failure;
          failure = error;
          const pauseMs = PAUSE_MS * 2 ** n * (0.5 + Math.random());
          const isLate = performance.now() + pauseMs >= deadline;
          if (n === MAX_ATTEMPTS || isLate || !isPassing(error)) throw error;
          await sleep(pauseMs);
        }
      }
    },
    act: (work) => attempt(work, timeoutMs),
    pause() {
      const waitMs = breaker.pausedMs();
      return waitMs > 0 ? `${system} ${describePause(waitMs)}` : undefined;
    },
  };
}

function describePause(waitMs: number): string {
  return `failed again and again, and is asked again in ${Math.ceil(waitMs / 1_000)} s`;
}

/** Returns whether a failure may be over in a moment. */
function isPassing(error: unknown): boolean {
  return error instanceof RemoteFailed && ["unreachable", "failed"].includes(error.code);
}

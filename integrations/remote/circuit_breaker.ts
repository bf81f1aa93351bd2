/** Stops asking a server that has failed again and again, until a pause is over. */
export interface CircuitBreaker {
  /** Milliseconds until it may be asked again; 0: it may be asked now. */
  pausedMs(): number;
  /** The same for a request that is about to be sent. After a pause one is let through. */
  enter(): number;
  succeed(): void;
  /** @param pauseMs the server's own wish for a pause; then it is made at once */
  fail(pauseMs?: number): void;
}

const MAX_FAILURES = 5;
const PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 300_000;

/** Opens a breaker. @param now milliseconds of a clock that never goes back */
export function openCircuitBreaker(now: () => number = () => performance.now()): CircuitBreaker {
  let failures = 0;
  let closedAt = 0;
  const pausedMs = () => Math.max(0, closedAt - now());
  return {
    pausedMs,
    enter() {
      const waitMs = pausedMs();
      // One request tries the server; the others wait until its end is known, or for another pause.
      if (waitMs === 0 && failures >= MAX_FAILURES) closedAt = now() + PAUSE_MS;
      return waitMs;
    },
    succeed() {
      failures = 0;
      closedAt = 0;
    },
    fail(pauseMs) {
      failures++;
      if (pauseMs !== undefined) closedAt = now() + Math.min(pauseMs, MAX_PAUSE_MS);
      else if (failures >= MAX_FAILURES) closedAt = now() + PAUSE_MS;
    },
  };
}

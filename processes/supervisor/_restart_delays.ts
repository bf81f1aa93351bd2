const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** After a life of this length a process is restarted without a longer delay, milliseconds. */
export const STABLE_MS = 60_000;

/** The delays before restarts: doubled after each short life, up to half a minute. */
export interface RestartDelays {
  /** Returns how many short lives there were in a row. */
  shortLifeCount(): number;
  /**
   * Returns the delay before the next restart, milliseconds.
   *
   * @param livedMs how long the process lived
   */
  next(livedMs: number): number;
}

/** Starts counting lives. */
export function restartDelays(stableMs: number): RestartDelays {
  let count = 0;
  return {
    shortLifeCount: () => count,
    next(livedMs) {
      count = livedMs > stableMs ? 0 : count + 1;
      return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, count - 1));
    },
  };
}

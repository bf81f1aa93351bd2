const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** What lived so long is started again without a longer pause, milliseconds. */
export const STEADY_MS = 60_000;

/** Pauses before what has ended is started again: twice as long after each short life, up to half a minute. */
export function pauses(steadyMs: number): {
  /** How often in a row it has lived for a short time only. */
  readonly short: () => number;
  /** @param lived milliseconds. @returns milliseconds */
  after(lived: number): number;
} {
  let short = 0;
  return {
    short: () => short,
    after(lived) {
      short = lived > steadyMs ? 0 : short + 1;
      return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, short - 1));
    },
  };
}

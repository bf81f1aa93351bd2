/** A minute of a log: when (minutes since 1970), how many lines, how many of them errors. */
export type Minute = readonly [at: number, lines: number, errors: number];

/** A minute with many more errors than usual. */
export interface ErrorPeak {
  readonly minute: number;
  readonly errors: number;
  /** Errors of a bad minute before it. */
  readonly usual: number;
}

/** Minutes that are kept: a day, if something was logged in each. */
const MAX_MINUTES = 1_440;
/** Before so many minutes, it is not known what is usual. */
const MIN_MINUTES = 10;
/** A bad minute is worse than this share of all minutes. It is high, as some logs have their errors in bursts. */
const BAD_MINUTE = 0.99;
/** A minute with many lines may have many errors: their share must be higher than this part of the usual share. */
const MIN_SHARE = 0.9;

/** Adds lines to the minutes of a log. */
export function countMinutes(
  minutes: readonly Minute[],
  lines: readonly { readonly time: number; readonly isError: boolean }[],
): Minute[] {
  const counts = new Map(minutes.map(([at, lines, errors]) => [at, { lines, errors }]));
  for (const { time, isError } of lines) {
    const at = Math.floor(time / 60_000);
    const count = counts.get(at) ?? { lines: 0, errors: 0 };
    count.lines++;
    if (isError) count.errors++;
    counts.set(at, count);
  }
  const all = [...counts].map(([at, { lines, errors }]): Minute => [at, lines, errors]);
  return all.sort(([a], [b]) => a - b).slice(-MAX_MINUTES);
}

/**
 * Finds minutes with many more errors than the bad minutes before them.
 *
 * @param since the first minute that is judged
 * @param limits `errors`: fewer are never a peak; `timesUsual`: so many times as many as usual are one
 */
export function findErrorPeaks(
  minutes: readonly Minute[],
  since: number,
  limits: { readonly errors: number; readonly timesUsual: number },
): ErrorPeak[] {
  const found: ErrorPeak[] = [];
  for (const [i, [minute, lines, errors]] of minutes.entries()) {
    if (minute < since || errors < limits.errors || i < MIN_MINUTES) continue;
    const before = minutes.slice(0, i);
    const sorted = before.map(([, , errors]) => errors).sort((a, b) => a - b);
    const usual = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * BAD_MINUTE))]!;
    const usualShare = sumOf(before, 2) / sumOf(before, 1);
    if (errors > usual * limits.timesUsual && errors / lines > usualShare * MIN_SHARE) {
      found.push({ minute, errors, usual });
    }
  }
  return found;
}

function sumOf(minutes: readonly Minute[], field: 1 | 2): number {
  return minutes.reduce((sum, minute) => sum + minute[field], 0);
}

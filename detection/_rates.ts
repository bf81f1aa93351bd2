/** A minute of a log: when (minutes since 1970), how many lines, how many of them errors. */
export type Minute = readonly [at: number, lines: number, errors: number];

/** A minute with more errors than usual. */
export interface Jump {
  readonly minute: number;
  readonly errors: number;
  /** Errors of a bad minute as it was usual before. */
  readonly usual: number;
}

/** A day of minutes in which anything was logged. */
const MOST_MINUTES = 1_440;
/** Nothing is usual before so many minutes were seen. */
const FEWEST_MINUTES = 10;
/** Minutes that are worse than all but one in a hundred are as bad as it usually gets: some logs have their errors in bursts. */
const USUAL = 0.99;

/** Adds lines to a log's minutes. */
export function count(
  minutes: readonly Minute[],
  lines: readonly { readonly time: number; readonly isError: boolean }[],
): Minute[] {
  const byMinute = new Map(minutes.map(([at, lines, errors]) => [at, [at, lines, errors]]));
  for (const { time, isError } of lines) {
    const at = Math.floor(time / 60_000);
    const minute = byMinute.get(at) ?? [at, 0, 0];
    minute[1]!++;
    if (isError) minute[2]!++;
    byMinute.set(at, minute);
  }
  const all = [...byMinute.values()] as unknown as Minute[];
  return all.sort(([a], [b]) => a - b).slice(-MOST_MINUTES);
}

/**
 * Finds minutes with many more errors than there were in the bad minutes before them.
 *
 * @param since the first minute that is judged
 * @param bounds `errors`: fewer are never a jump; `timesUsual`: how many times as many as usual are one
 */
export function jumps(
  minutes: readonly Minute[],
  since: number,
  { errors: fewest, timesUsual }: { errors: number; timesUsual: number },
): Jump[] {
  const found: Jump[] = [];
  for (const [i, [minute, lines, errors]] of minutes.entries()) {
    if (minute < since || errors < fewest || i < FEWEST_MINUTES) continue;
    const before = minutes.slice(0, i);
    const bad = before.map(([, , errors]) => errors).sort((a, b) => a - b);
    const usual = bad[Math.min(bad.length - 1, Math.floor(bad.length * USUAL))]!;
    const total = before.reduce((sum, [, lines]) => sum + lines, 0);
    const share = before.reduce((sum, [, , errors]) => sum + errors, 0) / total;
    // More errors because there is more of everything are no fault.
    if (errors > usual * timesUsual && errors / lines > share * 0.9) {
      found.push({ minute, errors, usual });
    }
  }
  return found;
}

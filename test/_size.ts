/** Sizes of tests that are the better the more they do. */

/** Returns the full size in `npm run test:soak`, and a tenth of it in the daily run. @param full e.g. number of callers */
export function sized(full: number): number {
  return process.env.TEST_SIZE === "full" ? full : Math.ceil(full / 10);
}

/**
 * Says whether one of the combinations of two things is looked at: in the daily run half of them, so that each thing is with
 * some of the others.
 */
export function isLookedAt(row: number, column: number): boolean {
  return process.env.TEST_SIZE === "full" || (row + column) % 2 === 0;
}

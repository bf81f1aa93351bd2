/** Sizes of tests that are the better the more they do. */

/** Returns the full size in `npm run test:soak`, and a tenth of it in the daily run. @param full e.g. number of callers */
export function sized(full: number): number {
  return process.env.TEST_SIZE === "full" ? full : Math.ceil(full / 10);
}

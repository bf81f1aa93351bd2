/** The evidence of a finding that lasts: what it began with, and what is newest. */

const MAX_FIRST = 3;
const MAX_NEWEST = 3;

/** Returns the first and the newest of samples, oldest first. */
export function keepSamples(samples: readonly string[]): readonly string[] {
  if (samples.length <= MAX_FIRST + MAX_NEWEST) return samples;
  return [...samples.slice(0, MAX_FIRST), ...samples.slice(-MAX_NEWEST)];
}

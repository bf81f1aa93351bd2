/** The amount of a measurement's work, its callers, and its time. */

/** Returns how many rounds to measure: `usual`, unless the environment has `ROUNDS`. */
export function rounds(usual: number): number {
  return Number(process.env.ROUNDS ?? usual);
}

/** Returns how many calls, rows or receipts to measure: the share of `usual` that `SCALE` names, at least 1. */
export function scaled(usual: number): number {
  return Math.max(1, Math.round(usual * Number(process.env.SCALE ?? 1)));
}

/** Does `count` pieces of work, `concurrency` at a time. @returns their results in order */
export async function runConcurrently<T>(
  count: number,
  concurrency: number,
  work: (n: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (next < count) {
      const n = next++;
      results[n] = await work(n);
    }
  }));
  return results;
}

/** Returns how long the work takes, milliseconds. */
export async function timeMs(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** Returns how many pieces are done a second. @param work does `count` pieces */
export async function ratePerSecond(count: number, work: () => unknown): Promise<number> {
  return count / (await timeMs(work)) * 1000;
}

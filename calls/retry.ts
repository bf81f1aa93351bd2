import { setTimeout as sleep } from "node:timers/promises";

const MAX_PAUSE_MS = 30_000;
/** About an hour. */
const MAX_ATTEMPTS = 120;

/**
 * Repeats work that failed for a passing reason, with growing pauses, for about an hour or as long as the process lives.
 *
 * @param isPassing returns false where trying again is in vain
 */
export async function retryInBackground(
  work: () => Promise<unknown>,
  isPassing: (error: unknown) => boolean,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    await sleep(Math.min(500 * 2 ** attempt, MAX_PAUSE_MS), undefined, { ref: false });
    try {
      await work();
      return;
    } catch (error) {
      if (!isPassing(error)) return;
    }
  }
}

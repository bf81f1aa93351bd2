import type { Journal, NewestHeartbeat } from "../../../store/devices/mod.ts";

/** Kind of a heartbeat whose counter was used before: the newest again, a late one, or one of a copy of the device. */
export type UsedCounter = "repeated" | "late" | "cloned";

/** A heartbeat as far as its counter is judged. */
interface JudgedHeartbeat {
  readonly counter: number;
  /** SHA-256 of the request. */
  readonly request: Buffer;
  readonly challenge?: string | undefined;
}

/**
 * Judges a heartbeat whose counter is not above the newest one's. Whoever is on the way can keep a signed heartbeat and
 * bring it at any time, so that a lower counter alone proves nothing. A device uses a counter once, and after it was
 * challenged only counters above those that were heard by then: what does otherwise is a copy.
 */
export function judgeUsedCounter(
  { counter, requests, challenge }: Pick<NewestHeartbeat, "counter" | "requests" | "challenge">,
  heartbeat: JudgedHeartbeat,
): UsedCounter {
  if (heartbeat.counter === counter) {
    return requests.at(-1)?.equals(heartbeat.request) ? "repeated" : "cloned";
  }
  const isAfterChallenge = challenge != null && challenge.text === heartbeat.challenge;
  return isAfterChallenge && heartbeat.counter <= challenge.counter ? "cloned" : "late";
}

/**
 * Returns whether a journal was put back, or is a copy's: it has lost lines, or its end is another one.
 *
 * @param highest end that the device has named so far
 */
export function isRolledBack(journal: Journal, highest: Journal): boolean {
  return journal.seq < highest.seq || journal.seq === highest.seq && journal.head !== highest.head;
}

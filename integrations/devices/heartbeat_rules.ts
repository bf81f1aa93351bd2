import type { Journal, NewestHeartbeat } from "../../store/devices/mod.ts";

/**
 * Kind of a heartbeat whose counter was used before: the newest again, a late copy of an earlier one, or one of another
 * device with the same key.
 */
export type UsedCounter = "repeated" | "late" | "cloned";

/** Judges a heartbeat whose counter is not above the newest one's. @param request SHA-256 of the request */
export function judgeUsedCounter(
  { counter, requests }: Pick<NewestHeartbeat, "counter" | "requests">,
  heartbeat: { readonly counter: number; readonly request: Buffer },
): UsedCounter {
  const newest = requests.at(-1);
  if (heartbeat.counter === counter && newest?.equals(heartbeat.request)) return "repeated";
  return requests.some((request) => request.equals(heartbeat.request)) ? "late" : "cloned";
}

/**
 * Returns whether a journal was put back, or is a copy's: it has lost lines, or its end is another one.
 *
 * @param highest end that the device has named so far
 */
export function isRolledBack(journal: Journal, highest: Journal): boolean {
  return journal.seq < highest.seq || journal.seq === highest.seq && journal.head !== highest.head;
}

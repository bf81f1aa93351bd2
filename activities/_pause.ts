import { activityInfo } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import type { FlagName } from "../contract/domain/mod.ts";
import type { Db } from "../store/mod.ts";
import { isFlagSet } from "../store/platform/mod.ts";

/** Pauses between two looks at a flag: they grow, as many activities may wait, and differ from each other. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 5 * 60_000;

/**
 * Holds an activity back while a flag is set, however long that is: Temporal starts it again after a pause of 5 seconds to 5
 * minutes, which leaves no trace in the history of its run.
 *
 * @throws {ApplicationFailure} benign and retryable: the flag is set
 */
export async function holdWhile(flag: FlagName, db: Db): Promise<void> {
  if (!await isFlagSet(db, flag)) return;
  throw ApplicationFailure.create({
    type: "Paused",
    message: `The flag ${flag} is set`,
    nextRetryDelay: pauseMs(activityInfo().attempt),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** @param attempt from 1 */
function pauseMs(attempt: number): number {
  const longestMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt - 1, 10), MAX_PAUSE_MS);
  return Math.round(longestMs * (0.5 + Math.random() / 2));
}

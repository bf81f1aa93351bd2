import { activityInfo } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import type { FlagName } from "../contract/domain/mod.ts";
import { isFlagSet } from "../store/platform/mod.ts";
import type { ActivityParts } from "./parts.ts";

/** Longest pause between two looks at a flag: pauses grow, as many activities may wait, and differ from each other. */
const MAX_PAUSE_MS = 5 * 60_000;

/**
 * Holds an activity back while a flag is set, however long that is: Temporal starts it again after a pause of
 * seconds to minutes, which leaves no trace in the history of its run.
 *
 * @throws {ApplicationFailure} benign and retryable: the flag is set
 */
export async function holdWhile(
  flag: FlagName,
  { store, timing }: Pick<ActivityParts, "store" | "timing">,
): Promise<void> {
  if (!await isFlagSet(store.db, flag)) return;
  throw ApplicationFailure.create({
    type: "Paused",
    message: `The flag ${flag} is set`,
    nextRetryDelay: pauseMs(activityInfo().attempt, timing.flags),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** @param attempt from 1 */
function pauseMs(attempt: number, firstMs: number): number {
  const longestMs = Math.min(firstMs * 2 ** Math.min(attempt - 1, 10), MAX_PAUSE_MS);
  return Math.round(longestMs * (0.5 + Math.random() / 2));
}

/** Activities that run in turns of about an hour, one turn after the other, for as long as the platform runs. */
import { cancellationSignal } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { createTimeoutSignal } from "../contract/mod.ts";

/** Shorter than the activity's timeout of an hour, so that a turn ends by itself. */
const TURN_MS = 55 * 60_000;

/** Returns a signal that is aborted when the turn is over, the worker stops or the activity is cancelled. */
export function createTurnSignal(stopping: AbortSignal): AbortSignal {
  return AbortSignal.any([stopping, cancellationSignal(), createTimeoutSignal(TURN_MS)]);
}

/** Returns the failure by which Temporal hands a turn to another worker. It is benign, so nothing is logged. */
export function workerStopping(): ApplicationFailure {
  return ApplicationFailure.create({
    message: "This worker stops; another one continues from here",
    category: ApplicationFailureCategory.BENIGN,
  });
}

import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  isCancellation,
} from "@temporalio/workflow";
import type { Activities, PlaceActivities } from "../activities/mod.ts";

/** Returns the code of an error, for the receipt. */
export function reasonOf(error: unknown): string {
  if (isCancellation(error)) return "cancelled";
  if (error instanceof ChildWorkflowFailure) return "approval_ended";
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type) return cause.type;
  return cause instanceof Error ? cause.name : "Error";
}

/** Returns true if an activity was begun and has failed or was cancelled. A cancelled run doesn't begin any. */
export function isFailureOf(
  activity: keyof (Activities & PlaceActivities),
  error: unknown,
): boolean {
  return error instanceof ActivityFailure && error.activityType === activity;
}

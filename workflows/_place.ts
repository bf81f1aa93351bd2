/** Work at places: what touches a machine is done by the workers of that machine, and by no others. */
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { PlaceActivities, RoundOrder } from "../activities/mod.ts";
import { type Finding, PLACE_AWAY, placeQueue, TASK_QUEUE } from "../contract/domain/mod.ts";
import { reasonOf } from "./_failures.ts";
import { perform, QUICK } from "./_options.ts";
import { currentTenant } from "./_run.ts";

/** A finding whose place is known. */
export type PlacedFinding = Finding & { readonly place: string };

/** Work in a round whose place is known. */
export type PlacedOrder = RoundOrder & { readonly finding: PlacedFinding };

/** Time that work waits for a worker of its place before it is asked whether there is one. */
const FIRST_WAIT_MS = 15_000;

/**
 * Has a place do work, which waits for as long as the place has a worker, and for a while longer. It is done there or
 * nowhere.
 *
 * ```ts
 * await at(place, QUICK, "Probes billing again", (here) => here.detect(finding));
 * ```
 *
 * @param work is called again where no worker has begun it
 * @throws {ApplicationFailure} `place_away`, non-retryable: the place has no worker
 */
export async function at<Result>(
  place: string,
  options: ActivityOptions,
  summary: string,
  work: (here: PlaceActivities) => Promise<Result>,
): Promise<Result> {
  let waitMs = FIRST_WAIT_MS;
  while (true) {
    try {
      return await work(activitiesOf(place, options, summary, waitMs));
    } catch (error) {
      if (!hasNotStarted(error)) throw error;
      const { away, next_look_ms } = await perform(QUICK, "Looks whether the place has a worker")
        .lookForPlace(place);
      if (away) {
        throw ApplicationFailure.create({
          type: PLACE_AWAY,
          message: "The place that this is to be done at has no worker",
          nonRetryable: true,
        });
      }
      waitMs = next_look_ms;
    }
  }
}

/** Has a place do work if one of its workers begins it soon. @returns undefined: none did */
export async function ifPresent<Result>(
  place: string,
  options: ActivityOptions,
  summary: string,
  work: (here: PlaceActivities) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work(activitiesOf(place, options, summary, FIRST_WAIT_MS));
  } catch (error) {
    if (!hasNotStarted(error)) throw error;
    return undefined;
  }
}

function activitiesOf(
  place: string,
  options: ActivityOptions,
  summary: string,
  waitMs: number,
): PlaceActivities {
  return proxyActivities<PlaceActivities>({
    ...options,
    taskQueue: placeQueue(TASK_QUEUE.act, place),
    scheduleToStartTimeout: waitMs,
    summary,
    priority: { fairnessKey: currentTenant() },
  });
}

/** Finds the place of a service, or of a fault; for what belongs to none, one that has a worker. */
export async function findPlace(
  about: { readonly service?: string | null; readonly fingerprint?: string } = {},
): Promise<string> {
  const { service = null, fingerprint = null } = about;
  const found = await perform(QUICK, "Finds the place").findPlace({ service, fingerprint });
  return found.place;
}

/** Leaves out the work of a place without a worker. @throws any other error */
export function unlessAway(error: unknown): undefined {
  if (reasonOf(error) !== PLACE_AWAY) throw error;
  return undefined;
}

/** Returns whether no worker has begun an activity. */
function hasNotStarted(error: unknown): boolean {
  return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure &&
    error.cause.timeoutType === "SCHEDULE_TO_START";
}

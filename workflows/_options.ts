/** Timeouts and retry policies of activities, by the kind of their work. */
import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
} from "@temporalio/workflow";
import type { Activities, MediaActivities } from "../activities/mod.ts";
import { ERRORS, placeQueue, TASK_QUEUE } from "../contract/domain/mod.ts";
import { currentTenant } from "./_run.ts";

/** Names of errors that a retry can't fix. */
const NON_RETRYABLE_ERRORS = Object.entries(ERRORS)
  .filter(([, rule]) => !rule.retryable).map(([name]) => name);

/** Type of the failure of a program that makes media. */
export const PROGRAM_FAILURE = "ChildFailed";

/** Every activity sends a heartbeat each second; without one for this time, its worker is gone. */
const HEARTBEAT_TIMEOUT = "5s";

const RETRY: ActivityOptions["retry"] = {
  initialInterval: "200ms",
  maximumInterval: "10s",
  nonRetryableErrorTypes: NON_RETRYABLE_ERRORS,
};

const COMMON: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: RETRY,
  // A cancelled activity ends before its run does, so that nothing happens after the run's receipt.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/** A read or a small transaction. */
export const QUICK: ActivityOptions = { ...COMMON, startToCloseTimeout: "20s" };

/** A look at a fault before it is judged. What takes longer is not had, and the run goes on without it. */
export const LOOK: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "10s",
  scheduleToCloseTimeout: "20s",
};

/** A read for which a person waits. A killed worker's is taken over by another within this time. */
export const INTERACTIVE: ActivityOptions = { ...QUICK, scheduleToCloseTimeout: "1m" };

/** A call of a language model. It costs money, so there is one attempt. */
export const MODEL_CALL: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "18s",
  scheduleToCloseTimeout: "20s",
  retry: { maximumAttempts: 1 },
};

/** The check of what a model wrote, for which a person waits. */
export const MODEL_REVIEW: ActivityOptions = { ...QUICK, scheduleToCloseTimeout: "4s" };

/** Work on many things. */
export const LONG: ActivityOptions = { ...COMMON, startToCloseTimeout: "2m" };

/** A look at a system of the operator's, without which a run ends. */
export const COMPARISON: ActivityOptions = { ...LONG, scheduleToCloseTimeout: "1m" };

/** A wait for services to recover, and for those who watch them to see it. */
export const RECOVERY: ActivityOptions = { ...COMMON, startToCloseTimeout: "15m" };

/** Requests to other organizations' servers. */
export const REMOTE: ActivityOptions = { ...COMMON, startToCloseTimeout: "5m" };

/** A message that may arrive although no answer comes, so there is one attempt. */
export const ONE_ATTEMPT: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "1m",
  retry: { maximumAttempts: 1 },
};

/** An act that itself makes sure that it happens once. When the time is over, its result is unknown. */
export const REPAIR: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "1h",
  scheduleToCloseTimeout: "3h",
};

/** A look at what became of an act. After this time nobody can tell. */
export const PROOF: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "90s",
  scheduleToCloseTimeout: "5m",
};

/** One attempt to send a mail. Another one, of a worker that takes over, finds out how far it came. */
export const TRANSMISSION: ActivityOptions = { ...COMMON, startToCloseTimeout: "15m" };

/** A drill's work on its service. When the time is over, the drill has failed. */
export const DRILL: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "1m",
  scheduleToCloseTimeout: "3m",
};

/** A transaction with a receipt. It is retried for ever, as nothing may end without its receipt. */
export const SEAL: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "45s",
  retry: { ...RETRY, maximumInterval: "30s" },
};

/**
 * Work of programs for media, on a queue of its own at its place, which does one at a time. It may wait there for others. Its attempts
 * last for an outage of the database of half an hour, and for many ends of the worker. No attempt follows one that took
 * too long or whose program failed.
 */
const MEDIA: ActivityOptions = {
  ...COMMON,
  heartbeatTimeout: "10s",
  startToCloseTimeout: "20m",
  retry: {
    initialInterval: "1s",
    maximumInterval: "1m",
    maximumAttempts: 50,
    nonRetryableErrorTypes: [
      ...NON_RETRYABLE_ERRORS,
      PROGRAM_FAILURE,
      "TemporalTimeout:StartToClose",
    ],
  },
};

/** A turn of about an hour. If its worker stops, another worker takes over at once. */
export const TURN: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: "1h",
  retry: { initialInterval: "500ms", backoffCoefficient: 1, maximumInterval: "500ms" },
};

/**
 * Returns the activities that any worker may do, with options, and with a summary of this call for the Web UI. They work in the name of the run's
 * tenant, which its door adds to each call. Where many wait for a queue, tenants take turns.
 *
 * ```ts
 * await perform(QUICK, "Opens the ticket of billing").openTicket(order);
 * ```
 */
export function perform(options: ActivityOptions, summary: string): Activities {
  const priority = { fairnessKey: currentTenant() };
  return proxyActivities<Activities>({ ...options, summary, priority });
}

/** Returns the activities by which a place makes media, likewise. */
export function performMedia(place: string, summary: string): MediaActivities {
  const taskQueue = placeQueue(TASK_QUEUE.media, place);
  const priority = { fairnessKey: currentTenant() };
  return proxyActivities<MediaActivities>({ ...MEDIA, taskQueue, summary, priority });
}

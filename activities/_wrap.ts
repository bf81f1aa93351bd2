import { heartbeat } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { Problem } from "../contract/mod.ts";

const HEARTBEAT_INTERVAL_MS = 1_000;

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Wraps activities for their worker: each sends heartbeats and fails with typed errors.
 *
 * By the heartbeats, Temporal notices within seconds that the worker was killed, however long the work takes. A
 * {@linkcode Problem} becomes a failure of its own name, on which workflows and the retry policy decide; the SDK would
 * use the name of the class.
 */
export function wrapActivities<A extends Record<string, Activity>>(activities: A): A {
  const entries = Object.entries(activities).map(([name, activity]) => [name, wrap(activity)]);
  return Object.fromEntries(entries);
}

function wrap(activity: Activity): Activity {
  return async (...args) => {
    const timer = setInterval(() => heartbeat(), HEARTBEAT_INTERVAL_MS);
    try {
      return await activity(...args);
    } catch (error) {
      throw error instanceof Problem ? failureOf(error) : error;
    } finally {
      clearInterval(timer);
    }
  };
}

function failureOf(problem: Problem): ApplicationFailure {
  const { name, message, rule, cause } = problem;
  const failure = ApplicationFailure.create({
    type: name,
    message,
    nonRetryable: !rule.retryable,
    cause: cause instanceof Error ? cause : undefined,
  });
  failure.stack = problem.stack; // where it was thrown
  return failure;
}

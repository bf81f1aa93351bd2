import { ApplicationFailure } from "@temporalio/common";
import { Problem } from "../contract/mod.ts";

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Makes activities fail with the kind of their error, by which workflows tell one from another and Temporal decides on
 * trying again; the SDK by itself would take the name of the class.
 */
export function failing<A extends Record<string, Activity>>(activities: A): A {
  const entries = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: never[]) => {
      try {
        return await activity(...args);
      } catch (error) {
        throw error instanceof Problem ? failureOf(error) : error;
      }
    },
  ]);
  return Object.fromEntries(entries);
}

function failureOf(problem: Problem): ApplicationFailure {
  const { name, message, rule } = problem;
  const failure = ApplicationFailure.create({
    type: name,
    message,
    nonRetryable: !rule.retryable,
    cause: problem.cause instanceof Error ? problem.cause : undefined,
  });
  failure.stack = problem.stack; // where it was thrown
  return failure;
}

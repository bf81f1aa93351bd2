import { heartbeat } from "@temporalio/activity";
import {
  ApplicationFailure,
  CancelledFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from "@temporalio/common";
import { Problem } from "../contract/mod.ts";
import { noteActivityTenant } from "../temporal/mod.ts";

const HEARTBEAT_INTERVAL_MS = 1_000;
/** Puts messages and stack traces into payloads, as they may have private text. */
const CONVERTER = new DefaultFailureConverter({ encodeCommonAttributes: true });

type Activity = (...args: never[]) => Promise<unknown>;
type ByName = Readonly<Record<string, Activity>>;

/** Activities that take the tenant in whose name they work before their arguments. */
export type OfTenant<A extends ByName> = {
  [Name in keyof A]: (tenant: string, ...args: Parameters<A[Name]>) => ReturnType<A[Name]>;
};

/**
 * Wraps activities for their worker: each works in the name of a tenant, sends heartbeats and fails with typed errors,
 * whose messages only clients and workflows of the tenant can read.
 *
 * By the heartbeats, Temporal notices within seconds that the worker was killed, however long the work takes. A
 * {@linkcode Problem} becomes a failure of its own name, on which workflows and the retry policy decide; the SDK would
 * use the name of the class.
 *
 * @param any activities of any tenant, for their names
 * @param ofTenant returns the activities of one tenant
 */
export function wrapActivities<A extends ByName>(
  any: A,
  ofTenant: (tenant: string) => A,
): OfTenant<A> {
  const entries = Object.keys(any).map((name) => [name, wrap(name, ofTenant)]);
  return Object.fromEntries(entries);
}

function wrap(name: string, ofTenant: (tenant: string) => ByName) {
  return async (tenant: string, ...args: never[]) => {
    noteActivityTenant(tenant);
    const timer = setInterval(() => heartbeat(), HEARTBEAT_INTERVAL_MS);
    try {
      return await ofTenant(tenant)[name]!(...args);
    } catch (error) {
      throw withoutText(error instanceof Problem ? failureOf(error) : error);
    } finally {
      clearInterval(timer);
    }
  };
}

/** Returns an error as it is sent to Temporal, with its text in a payload. A cancellation has none. */
function withoutText(error: unknown): unknown {
  if (error instanceof CancelledFailure || (error as Error)?.name === "AbortError") return error;
  const failure = ApplicationFailure.fromError(error);
  failure.failure = CONVERTER.errorToFailure(failure, defaultPayloadConverter);
  return failure;
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

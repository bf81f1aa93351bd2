import { heartbeat } from "@temporalio/activity";
import {
  ApplicationFailure,
  CancelledFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from "@temporalio/common";
import { Problem } from "../contract/mod.ts";
import {
  argumentsOf,
  type ArgumentsSchema,
  parseArguments,
  type SchemaOf,
  TenantId,
} from "../contract/domain/schemas/mod.ts";

const HEARTBEAT_INTERVAL_MS = 1_000;
/** Puts messages and stack traces into payloads, as they may have private text. */
const CONVERTER = new DefaultFailureConverter({ encodeCommonAttributes: true });

const TENANT = argumentsOf(TenantId);

type Activity = (...args: never[]) => Promise<unknown>;
type ByName = Readonly<Record<string, Activity>>;

/** Activities that take the tenant in whose name they work before their arguments. */
export type OfTenant<A extends ByName> = {
  [Name in keyof A]: (tenant: string, ...args: Parameters<A[Name]>) => ReturnType<A[Name]>;
};

/** A schema of the arguments of each activity, no more and no less than these. */
export type SchemasOf<A extends ByName, Schemas> = {
  readonly [Name in keyof A]: Name extends keyof Schemas
    ? Schemas[Name] extends ArgumentsSchema ? SchemaOf<Schemas[Name], Parameters<A[Name]>> : never
    : never;
};

/**
 * Wraps activities for their worker: each parses its arguments before anything else, works in the name of a tenant, sends
 * heartbeats and fails with typed errors, whose messages only clients and workflows of the tenant can read.
 *
 * By the heartbeats, Temporal notices within seconds that the worker was killed, however long the work takes. A
 * {@linkcode Problem} becomes a failure of its own name, on which workflows and the retry policy decide; the SDK would
 * use the name of the class.
 *
 * @param any activities of any tenant, for their names
 * @param ofTenant returns the activities of one tenant
 * @param schemas of their arguments
 * @param keep keeps where composed texts in a result quote others, as Temporal carries their words alone
 */
export function wrapActivities<
  A extends ByName,
  Schemas extends { readonly [Name in keyof A]: ArgumentsSchema },
>(
  any: A,
  ofTenant: (tenant: string) => A,
  schemas: Schemas & SchemasOf<A, Schemas>,
  keep: (tenant: string, result: unknown) => Promise<void>,
): OfTenant<A> {
  const byName: Readonly<Record<string, ArgumentsSchema>> = schemas;
  const entries = Object.keys(any).map((name) => [name, wrap(name, ofTenant, byName[name], keep)]);
  return Object.fromEntries(entries);
}

function wrap(
  name: string,
  ofTenant: (tenant: string) => ByName,
  schema: ArgumentsSchema | undefined,
  keep: (tenant: string, result: unknown) => Promise<void>,
) {
  return async (tenant: unknown, ...args: unknown[]) => {
    const timer = setInterval(() => heartbeat(), HEARTBEAT_INTERVAL_MS);
    try {
      const [owner] = parseArguments(`tenant of the activity ${name}`, TENANT, [tenant]);
      const parsed = parseArguments(`activity ${name}`, schema, args) as never[];
      const result = await ofTenant(owner as string)[name]!(...parsed);
      await keep(owner as string, result);
      return result;
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

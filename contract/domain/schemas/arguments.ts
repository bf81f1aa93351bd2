import { z } from "zod";
import { ApplicationFailure } from "@temporalio/common";

/** Schema of the arguments of a workflow, an activity, a signal or an update. */
export type ArgumentsSchema = z.ZodType<readonly unknown[]>;

/**
 * The schema of a call's arguments, if it describes them exactly: a field that one of the two lacks is an error of its type.
 */
export type SchemaOf<Schema extends ArgumentsSchema, Args> = [Plain<z.output<Schema>>] extends
  [Plain<Args>] ? [Plain<Args>] extends [Plain<z.output<Schema>>] ? Schema
  : { readonly "the schema has fields or values that are none of": Args }
  : { readonly "the schema lacks fields or values of": Args };

/** A type without readonly, and with what is optional in a tuple of its own, so that two that describe the same are equal. */
type Plain<T> = T extends object ? {
    -readonly [Key in keyof T]-?: unknown extends T[Key] ? unknown
      : undefined extends T[Key] ? [Plain<Exclude<T[Key], undefined>>]
      : Plain<T[Key]>;
  }
  : T;

/** Returns the schema of a call's arguments. */
export function argumentsOf<const Schemas extends readonly z.ZodType[]>(
  ...schemas: Schemas
): z.ZodTuple<Schemas, null> {
  return z.tuple(schemas as never) as unknown as z.ZodTuple<Schemas, null>;
}

/**
 * Returns the arguments of a call, parsed.
 *
 * @param call what is called, for people
 * @param schema undefined: nothing of this name is known
 * @throws {ApplicationFailure} `InvalidInput`, non-retryable
 */
export function parseArguments(
  call: string,
  schema: ArgumentsSchema | undefined,
  args: readonly unknown[],
): unknown[] {
  if (!schema) throw invalid(`Cannot take the ${call}: it is not known`);
  const { success, data, error } = schema.safeParse(args);
  if (success) return data.map((one, at) => inOrderOf(args[at], one));
  const mistakes = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw invalid(`Cannot take the arguments of the ${call}: ${mistakes.join("; ")}`);
}

/** Returns what was parsed with its fields in the order in which they were given: ids are hashes of JSON. */
function inOrderOf(given: unknown, parsed: unknown): unknown {
  if (typeof parsed !== "object" || parsed === null) return parsed;
  if (Array.isArray(parsed)) {
    return parsed.map((one, at) => inOrderOf((given as unknown[])[at], one));
  }
  const fields = parsed as Readonly<Record<string, unknown>>;
  const names = Object.keys(given as object).filter((name) => Object.hasOwn(fields, name));
  return Object.fromEntries(
    names.map((name) => [
      name,
      inOrderOf((given as Readonly<Record<string, unknown>>)[name], fields[name]),
    ]),
  );
}

function invalid(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "InvalidInput");
}

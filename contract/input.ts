import { z } from "zod";
import { InvalidInput, type Issue, Problem } from "./errors.ts";

/**
 * Validates a call's fields against the operation's input schema. Unknown fields are refused.
 *
 * @throws {InvalidInput} names each wrong field and what would be right
 */
export function parseInput(schema: z.ZodObject, input: unknown): Record<string, unknown> {
  const result = strictForm(schema).safeParse(input ?? {}, { reportInput: true });
  if (result.success) {
    refuseUnstorableText(result.data, []);
    return result.data;
  }
  throw new InvalidInput(result.error.issues.flatMap((issue) => describe(issue, schema)));
}

/**
 * Refuses text that neither a receipt nor PostgreSQL can store, before anything is done.
 *
 * @throws {InvalidInput}
 */
function refuseUnstorableText(value: unknown, path: readonly (string | number)[]): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    const msg = "Text contains U+0000 or half of a surrogate pair";
    throw new InvalidInput([{ path, msg, type: "string_unicode" }]);
  }
  if (typeof value !== "object" || value === null) return;
  const isArray = Array.isArray(value);
  for (const [name, entry] of Object.entries(value)) {
    if (!isArray) refuseUnstorableText(name, path);
    refuseUnstorableText(entry, [...path, isArray ? Number(name) : name]);
  }
}

const strictForms = new WeakMap<z.ZodObject, z.ZodObject>();

/** Returns the strict form of a schema; cached, as zod compiles each schema at its first use. */
function strictForm(schema: z.ZodObject): z.ZodObject {
  const known = strictForms.get(schema);
  if (known) return known;
  const form = schema.strict();
  strictForms.set(schema, form);
  return form;
}

const UNKNOWN_FIELD = "extra_forbidden";

function describe(issue: z.core.$ZodIssue, schema: z.ZodObject): Issue[] {
  const path = issue.path.map((part) => typeof part === "symbol" ? String(part) : part);
  if (issue.input === undefined && issue.code !== "unrecognized_keys" && issue.code !== "custom") {
    return [{ path, msg: "Field required", type: "missing" }];
  }
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...path, key],
        msg: path.length === 0
          ? `Unknown field; the fields are ${Object.keys(schema.shape).join(", ") || "none"}`
          : "Unknown field",
        type: UNKNOWN_FIELD,
      }));
    case "invalid_type":
      return [{ path, msg: `Expected ${issue.expected}`, type: `${issue.expected}_type` }];
    case "too_small":
      return [{
        path,
        msg: describeLimit("at least", issue.minimum, issue.origin),
        type: tooSmall(issue),
      }];
    case "too_big":
      return [{
        path,
        msg: describeLimit("at most", issue.maximum, issue.origin),
        type: tooBig(issue),
      }];
    case "invalid_value":
      return [{ path, msg: `Expected one of ${issue.values.join(", ")}`, type: "enum" }];
    default:
      return [{ path, msg: issue.message, type: "value_error" }];
  }
}

function describeLimit(which: string, limit: number | bigint, origin: string): string {
  const unit = origin === "string"
    ? " characters"
    : origin === "array" || origin === "object"
    ? " entries"
    : "";
  return `Expected ${which} ${limit}${unit}`;
}

const tooSmall = (issue: { origin: string }) =>
  issue.origin === "string"
    ? "string_too_short"
    : issue.origin === "array"
    ? "too_short"
    : "greater_than_equal";
const tooBig = (issue: { origin: string }) =>
  issue.origin === "string"
    ? "string_too_long"
    : issue.origin === "array"
    ? "too_long"
    : "less_than_equal";

/**
 * Parses the strings of a query or path into the types of the schema. A string that does not parse is kept, and the
 * schema then refuses it.
 *
 * @param fields names to strings, as in the address
 */
export function parseStrings(
  schema: z.ZodObject,
  fields: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
      return [name, field ? convert(kindOf(field), text) : text];
    }),
  );
}

function convert(kind: string, text: string): unknown {
  if (kind === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (kind === "boolean" && (text === "true" || text === "1")) return true;
  if (kind === "boolean" && (text === "false" || text === "0")) return false;
  return text;
}

function kindOf(schema: z.core.$ZodType): string {
  const def = schema._zod.def as { type: string; innerType?: z.core.$ZodType };
  return def.innerType ? kindOf(def.innerType) : def.type;
}

/** The part of a REST request that holds a field of the input, as FastAPI names it. */
export type Place = "path" | "query" | "body";

/** The places of an operation's fields over REST. */
export interface Places {
  /** All fields. */
  readonly names: readonly string[];
  placeOf(name: unknown): Place;
}

/** Converts an error to FastAPI's HTTPValidationError, in which each issue names the place of its field. */
export function withLocations({ issues, message, extra }: InvalidInput, places: Places): Problem {
  const detail = issues.map(({ path, msg, type }) => {
    const place = places.placeOf(path[0]);
    const isOutermost = type === UNKNOWN_FIELD && path.length === 1;
    return { loc: [place, ...path], msg: isOutermost ? unknownField(place, places) : msg, type };
  });
  return new Problem("InvalidInput", message, { ...extra, body: { detail } });
}

/** Creates the error for fields that a place does not take. @param names at least one */
export function unknownFieldsProblem(
  names: readonly string[],
  place: Place,
  places: Places,
): Problem {
  const msg = unknownField(place, places);
  return new Problem("InvalidInput", msg, {
    body: { detail: names.map((name) => ({ loc: [place, name], msg, type: UNKNOWN_FIELD })) },
  });
}

function unknownField(place: Place, { names, placeOf }: Places): string {
  const known = names.filter((name) => placeOf(name) === place);
  return known.length === 0
    ? `Unknown field; the ${place} has none`
    : `Unknown field; the ${place}'s fields are ${known.join(", ")}`;
}

import { z } from "zod";
import { InvalidInput, type Issue, Problem } from "./errors.ts";

/**
 * Checks a call's fields against the operation's input schema.
 *
 * @param schema closed: a field that it does not name is refused, with the names that there are
 * @throws {InvalidInput} says of each field what was wrong and what would be right
 */
export function parseInput(schema: z.ZodObject, input: unknown): Record<string, unknown> {
  const result = closed(schema).safeParse(input ?? {}, { reportInput: true });
  if (result.success) {
    refuseUnkeepable(result.data, []);
    return result.data;
  }
  throw new InvalidInput(result.error.issues.flatMap((issue) => describe(issue, schema)));
}

/**
 * Neither a receipt nor PostgreSQL can keep such text; better to hear so before anything is done than after.
 *
 * @throws {InvalidInput}
 */
function refuseUnkeepable(value: unknown, path: readonly (string | number)[]): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    const msg = "Text contains U+0000 or half of a surrogate pair";
    throw new InvalidInput([{ path, msg, type: "string_unicode" }]);
  }
  if (typeof value !== "object" || value === null) return;
  const isArray = Array.isArray(value);
  for (const [name, entry] of Object.entries(value)) {
    if (!isArray) refuseUnkeepable(name, path);
    refuseUnkeepable(entry, [...path, isArray ? Number(name) : name]);
  }
}

const closedForms = new WeakMap<z.ZodObject, z.ZodObject>();

/** The closed form of a schema, made once: zod compiles each schema at its first use. */
function closed(schema: z.ZodObject): z.ZodObject {
  const known = closedForms.get(schema);
  if (known) return known;
  const form = schema.strict();
  closedForms.set(schema, form);
  return form;
}

const UNKNOWN = "extra_forbidden";

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
        type: UNKNOWN,
      }));
    case "invalid_type":
      return [{ path, msg: `Expected ${issue.expected}`, type: `${issue.expected}_type` }];
    case "too_small":
      return [{ path, msg: bound("at least", issue.minimum, issue.origin), type: tooSmall(issue) }];
    case "too_big":
      return [{ path, msg: bound("at most", issue.maximum, issue.origin), type: tooBig(issue) }];
    case "invalid_value":
      return [{ path, msg: `Expected one of ${issue.values.join(", ")}`, type: "enum" }];
    default:
      return [{ path, msg: issue.message, type: "value_error" }];
  }
}

function bound(which: string, limit: number | bigint, origin: string): string {
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
 * Turns the strings of a query or path into the types that the schema asks for. What does not fit stays a
 * string, and is then refused by the schema with a message of its own.
 *
 * @param fields names to strings, as parsed from the address
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

/** Where a field of the input comes from over REST, in FastAPI's words. */
export type Place = "path" | "query" | "body";

/** Where the fields of an operation come from over REST. */
export interface Places {
  /** All there are. */
  readonly names: readonly string[];
  placeOf(name: unknown): Place;
}

/** FastAPI's HTTPValidationError: each issue says where the field was looked for. */
export function withLocations({ issues, message }: InvalidInput, places: Places): Problem {
  const detail = issues.map(({ path, msg, type }) => {
    const place = places.placeOf(path[0]);
    const isOutermost = type === UNKNOWN && path.length === 1;
    return { loc: [place, ...path], msg: isOutermost ? unknownField(place, places) : msg, type };
  });
  return new Problem("InvalidInput", message, { body: { detail } });
}

/** The refusal of fields that a place does not take. @param names at least one */
export function refuseUnknownFields(
  names: readonly string[],
  place: Place,
  places: Places,
): Problem {
  const msg = unknownField(place, places);
  return new Problem("InvalidInput", msg, {
    body: { detail: names.map((name) => ({ loc: [place, name], msg, type: UNKNOWN })) },
  });
}

function unknownField(place: Place, { names, placeOf }: Places): string {
  const there = names.filter((name) => placeOf(name) === place);
  return there.length === 0
    ? `Unknown field; the ${place} has none`
    : `Unknown field; the ${place}'s fields are ${there.join(", ")}`;
}

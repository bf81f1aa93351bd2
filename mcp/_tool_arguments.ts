import type { z } from "zod";
import { parseJson } from "../runtime/web/mod.ts";

/** Arguments that clients add to tools without arguments, as some models must send one. */
const DUMMIES =
  /^_*(random_string|dummy(_?(arg|argument|param|parameter))?|placeholder|no_?op|no_?args|unused|empty)?_*$/i;

/**
 * Returns a call's arguments with what agents and their clients are known to send read as it is meant: `null` and an empty
 * text of an optional field as if absent, numbers, booleans, lists and objects as their text, and a dummy of a tool without
 * arguments left out. A value that the schema takes stays as it is; one that means nothing is left for the schema to refuse.
 *
 * @param input as received
 */
export function readToolArguments(schema: z.ZodObject, input: unknown): unknown {
  if (input === undefined || input === null) return {};
  if (!isObject(input)) return input;
  if (Object.keys(schema.shape).length > 0) {
    return readFields(schema.shape, withOwnNames(schema.shape, withoutEmpty(schema.shape, input)));
  }
  return Object.fromEntries(Object.entries(input).filter(([name]) => !DUMMIES.test(name)));
}

/** Names of one id: an incident is a ticket. */
const SAME_ID = ["ticket_id", "incident_id"];

/** Renames an id that goes by several names to the one that the schema has. */
function withOwnNames(shape: z.core.$ZodShape, input: Fields): Fields {
  const own = SAME_ID.find((name) => Object.hasOwn(shape, name));
  const other = SAME_ID.find((name) => Object.hasOwn(input, name));
  if (!own || !other || Object.hasOwn(shape, other) || Object.hasOwn(input, own)) return input;
  const { [other]: id, ...others } = input;
  return { ...others, [own]: id };
}

/** Leaves out fields that the schema does not have and that say nothing, as clients fill in what is absent. */
function withoutEmpty(shape: z.core.$ZodShape, input: Fields): Fields {
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) =>
      Object.hasOwn(shape, name) || value !== null && value !== ""
    ),
  );
}

type Fields = Readonly<Record<string, unknown>>;

function readFields(shape: Readonly<Record<string, z.core.$ZodType>>, input: Fields): Fields {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => {
      const field = Object.hasOwn(shape, name) ? shape[name] as z.ZodType : undefined;
      if (!field) return [[name, value]];
      const read = readValue(field, value);
      const isAbsent = (read === null || read === "") && !accepts(field, read) &&
        accepts(field, undefined);
      return isAbsent ? [] : [[name, read]];
    }),
  );
}

/** Returns a value as its schema means it. */
function readValue(field: z.ZodType, value: unknown): unknown {
  const inner = innermost(field);
  const known = typeof value === "string" ? readText(field, inner, value) : value;
  if (Array.isArray(known) && inner.type === "array") {
    return known.map((entry) => readValue(inner.element as z.ZodType, entry));
  }
  return isObject(known) && inner.shape ? readFields(inner.shape, known) : known;
}

/** Returns the value of which a text is the JSON, where the schema takes no such text. */
function readText(field: z.ZodType, { type }: Inner, text: string): unknown {
  const isReadable = /^(number|int|boolean|array|object|record)$/.test(type);
  if (!isReadable || text.trim() === "" || accepts(field, text)) return text;
  try {
    const value = parseJson(text.trim());
    return isKind(type, value) ? value : text;
  } catch {
    return type === "boolean" && /^(true|false)$/i.test(text) ? /^true$/i.test(text) : text;
  }
}

function isKind(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object" || type === "record") return isObject(value);
  return type === "boolean" ? typeof value === "boolean" : typeof value === "number";
}

/** The part of a schema below `optional`, `default` and the like. */
interface Inner {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
}

function innermost(schema: z.core.$ZodType): Inner {
  const def = schema._zod.def as unknown as Inner & {
    readonly innerType?: z.core.$ZodType;
    readonly in?: z.core.$ZodType;
  };
  const below = def.innerType ?? def.in;
  return below ? innermost(below) : def;
}

const accepts = (field: z.ZodType, value: unknown) => field.safeParse(value).success;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

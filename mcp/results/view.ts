import type { z } from "zod";

/** How much of a result a caller wants. */
export interface View {
  /** True: all of it. */
  readonly verbose: boolean;
  /** Only these fields, of the result or of the items of its lists. Default: all. */
  readonly fields?: readonly string[];
}

/** Arguments of every tool that reads, besides its own. */
export const VIEW_PROPERTIES = {
  verbose: { type: "boolean" },
  fields: { type: "array", items: { type: "string" } },
} as const;

/** A call's view, or why it can't be read: a sentence. */
type TakenView = { readonly view: View; readonly input: unknown } | { readonly wrong: string };

/**
 * Takes the view out of a call's arguments. A tool's own argument of the same name stays.
 *
 * @param input as received
 */
export function takeView(schema: z.ZodObject, input: unknown): TakenView {
  if (!isObject(input)) return { view: { verbose: false }, input };
  const own = Object.fromEntries(
    Object.entries(input).filter(([name]) => !(name in VIEW_PROPERTIES) || name in schema.shape),
  );
  const verbose = "verbose" in own ? false : readVerbose(input.verbose);
  const fields = "fields" in own ? [] : readFields(input.fields);
  if (verbose === undefined) return { wrong: "verbose has to be true or false" };
  if (fields === undefined) return { wrong: "fields has to be a list of names of fields" };
  return { view: { verbose, ...fields.length > 0 ? { fields } : {} }, input: own };
}

function readVerbose(value: unknown): boolean | undefined {
  const text = `${value ?? ""}`.toLowerCase();
  return text === "true" ? true : ["", "false"].includes(text) ? false : undefined;
}

/** Reads a list of names, or a text with commas between them. */
function readFields(value: unknown): readonly string[] | undefined {
  const names = typeof value === "string"
    ? value.replace(/^\[|\]$|"/g, "").split(",")
    : value ?? [];
  if (!Array.isArray(names) || names.some((name) => typeof name !== "string")) return undefined;
  return names.map((name) => name.trim()).filter(Boolean);
}

/** The chosen fields of a value. */
interface Picked {
  readonly value: unknown;
  /** Names that no part has. */
  readonly missing: readonly string[];
  /** Names that there are, sorted. */
  readonly known: readonly string[];
}

/** Returns the fields that a caller wants: of the value, or of the items of its lists. */
export function pick(value: unknown, fields: readonly string[]): Picked {
  const known = new Set<string>();
  const pickFrom = (part: unknown, withLists: boolean): Record<string, unknown> => {
    if (!isObject(part)) return {};
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, inner]): [string, unknown][] => {
        known.add(name);
        if (fields.includes(name)) return [[name, inner]];
        if (!withLists || !Array.isArray(inner)) return [];
        const items = inner.map((item) => pickFrom(item, false));
        return items.some((item) => Object.keys(item).length > 0) ? [[name, items]] : [];
      }),
    );
  };
  const picked = pickFrom(value, true);
  const missing = fields.filter((name) => !known.has(name));
  return { value: picked, missing, known: [...known].sort() };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

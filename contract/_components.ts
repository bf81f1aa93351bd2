import type { JsonSchema } from "./json_schema.ts";

/** Schemas that a description names once and refers to. */
export interface Components {
  /**
   * Takes a schema's own definitions out of it and refers to them where the description keeps all of them.
   *
   * @param io of the same name, what is sent and what is given may differ, by the defaults that are filled in
   */
  lift(schema: JsonSchema, io: "input" | "output"): JsonSchema;
  /** All that were lifted, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

const OWN = "#/$defs/";
const SHARED = "#/components/schemas/";

/** @param taken names that are the description's own */
export function createComponents(taken: Readonly<Record<string, JsonSchema>>): Components {
  const schemas: Record<string, JsonSchema> = { ...taken };
  return {
    schemas,
    lift({ $defs = {}, ...schema }, io) {
      const definitions = Object.entries($defs as Record<string, JsonSchema>);
      const names = new Map(definitions.map(([name]) => [name, name]));
      for (const [name, definition] of definitions) {
        const other = schemas[name];
        const same = JSON.stringify(other) === JSON.stringify(referring(definition, names));
        if (other && !same) names.set(name, `${name}${io === "input" ? "Input" : "Output"}`);
      }
      for (const [name, definition] of definitions) {
        schemas[names.get(name)!] = referring(definition, names) as JsonSchema;
      }
      return referring(schema, names) as JsonSchema;
    },
  };
}

/** A copy whose references to own definitions lead to the shared ones. */
function referring(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => referring(entry, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const own = key === "$ref" && typeof entry === "string" && entry.startsWith(OWN);
      return [
        key,
        own ? `${SHARED}${names.get(entry.slice(OWN.length))}` : referring(entry, names),
      ];
    }),
  );
}

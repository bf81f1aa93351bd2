import type { JsonSchema } from "./json_schema.ts";

/** The named schemas of a description. */
export interface Components {
  /**
   * Moves a schema's definitions to the description, and returns the schema with references to them.
   *
   * @param io input and output schemas of one name may differ, by the defaults that are filled in
   */
  lift(schema: JsonSchema, io: "input" | "output"): JsonSchema;
  /** All moved schemas, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

const OWN_REF = "#/$defs/";
const SHARED_REF = "#/components/schemas/";

/** Starts a collection. @param initial schemas of the description itself */
export function createComponents(initial: Readonly<Record<string, JsonSchema>>): Components {
  const schemas: Record<string, JsonSchema> = { ...initial };
  return {
    schemas,
    lift({ $defs = {}, ...schema }, io) {
      const definitions = Object.entries($defs as Record<string, JsonSchema>);
      const names = new Map(definitions.map(([name]) => [name, name]));
      for (const [name, definition] of definitions) {
        const other = schemas[name];
        const same = JSON.stringify(other) === JSON.stringify(withSharedRefs(definition, names));
        if (other && !same) names.set(name, `${name}${io === "input" ? "Input" : "Output"}`);
      }
      for (const [name, definition] of definitions) {
        schemas[names.get(name)!] = withSharedRefs(definition, names) as JsonSchema;
      }
      return withSharedRefs(schema, names) as JsonSchema;
    },
  };
}

/** Returns a copy whose references to its own definitions point to the shared ones. */
function withSharedRefs(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => withSharedRefs(entry, names));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([key, entry]) => {
    const isOwnRef = key === "$ref" && typeof entry === "string" && entry.startsWith(OWN_REF);
    if (!isOwnRef) return [key, withSharedRefs(entry, names)];
    return [key, `${SHARED_REF}${names.get(entry.slice(OWN_REF.length))}`];
  });
  return Object.fromEntries(fields);
}

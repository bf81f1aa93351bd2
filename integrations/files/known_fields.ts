/** Finds the fields that a schema knows at a place, so that a misspelt one can be answered with the right one. */
import type { z } from "zod";
import { similarNames } from "../../contract/mod.ts";

type Schema = z.core.$ZodType;

/** Returns what would be right in place of an unknown field: the one that is similar, or all that there are. */
export function adviseField(schema: Schema, path: readonly PropertyKey[], field: string): string {
  const known = [...new Set(fieldsAt(schema, path))];
  if (known.length === 0) return "";
  const [similar] = similarNames(field, known);
  return similar ? `; did you mean ${similar}?` : `; there are ${known.join(", ")}`;
}

/** Lists the names of the fields at a path; of a union those of all its forms. */
function fieldsAt(schema: Schema, path: readonly PropertyKey[]): string[] {
  const [step, ...rest] = path;
  const { def } = schema._zod;
  switch (def.type) {
    case "object": {
      const { shape } = def as z.core.$ZodObjectDef;
      if (step === undefined) return Object.keys(shape);
      const field = shape[String(step)];
      return field ? fieldsAt(field, rest) : [];
    }
    case "array":
      return step === undefined ? [] : fieldsAt((def as z.core.$ZodArrayDef).element, rest);
    case "record":
      return step === undefined ? [] : fieldsAt((def as z.core.$ZodRecordDef).valueType, rest);
    case "union":
      return (def as z.core.$ZodUnionDef).options.flatMap((option) => fieldsAt(option, path));
    case "pipe":
      return fieldsAt((def as z.core.$ZodPipeDef).in, path);
    case "default":
    case "prefault":
    case "optional":
    case "nullable":
    case "readonly":
      return fieldsAt((def as z.core.$ZodOptionalDef).innerType, path);
    default:
      return [];
  }
}

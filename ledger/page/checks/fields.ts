import { canonicalizeFields, NotCanonical } from "../../rules/mod.ts";

/** Reads the fields of a record, each as its JSON text. @returns undefined if it is no JSON object */
export function readFields(record: string): ReadonlyMap<string, string> | undefined {
  try {
    return canonicalizeFields(record);
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

/** Reads a field that is a string. @returns "" if it is not */
export function readText(fields: ReadonlyMap<string, string>, name: string): string {
  const json = fields.get(name);
  return json?.startsWith('"') ? JSON.parse(json) : "";
}

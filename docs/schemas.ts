/** Writes the schemas of the files that users write to `schemas/`: `npx tsx docs/schemas.ts && npx deno fmt docs/schemas`. */
import { readFileSync, writeFileSync } from "node:fs";
import { SCHEMAS } from "../processes/_schemas.ts";

const placeOf = (name: string) => new URL(`./schemas/${name}.json`, import.meta.url);

/** A schema as the docs have it. */
export function writtenSchema(name: string): unknown {
  return JSON.parse(readFileSync(placeOf(name), "utf8"));
}

if (process.argv[1]?.endsWith("schemas.ts")) {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    writeFileSync(placeOf(name), JSON.stringify(schema, null, 2));
  }
}

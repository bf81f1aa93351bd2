import { SCHEMAS } from "../../processes/mod.ts";
import { type GeneratedFile, schemaFile } from "./_page.ts";

/** The schemas of the files that users write. */
export const schemaFiles: readonly GeneratedFile[] = Object.entries(SCHEMAS).map(([name, schema]) =>
  schemaFile(`docs/schemas/${name}.json`, schema)
);

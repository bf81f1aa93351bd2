import { detectorsFileSchema } from "../../judgement/detection/mod.ts";
import { pageWith, table } from "./_page.ts";

interface Schema {
  readonly default?: unknown;
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The tables of the detectors' settings in `docs/detection.md`. */
export const detectorsPage = pageWith("docs/detection.md", "detectors", () => {
  const { properties } = detectorsFileSchema() as Required<Schema>;
  return Object.entries(properties).map(([block, schema]) =>
    `### \`${block}\`\n\n${table(["setting", "default", "meaning"], rows(schema))}`
  ).join("\n\n");
});

function rows({ properties = {} }: Schema, prefix = ""): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties && !schema.description
      ? rows(schema, `${prefix}${name}.`)
      : [[`\`${prefix}${name}\``, showDefault(schema), schema.description ?? ""]]
  );
}

/** Defaults of lists and maps are described in the schema. */
function showDefault({ default: value }: Schema): string {
  return typeof value === "object" || value === undefined ? "" : `\`${value}\``;
}

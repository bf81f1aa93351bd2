/** Writes the tables of settings in `detection.md` from the schema that checks them: `npx tsx docs/detectors.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { detectorsFileSchema } from "../detection/mod.ts";

const PAGE = new URL("./detection.md", import.meta.url);
const BETWEEN = /(<!-- detectors: [^>]* -->\n)[\s\S]*(<!-- detectors end -->)/;

interface Schema {
  readonly default?: unknown;
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The page as it should be. */
export function pageWithDetectors(page: string): string {
  const { properties } = detectorsFileSchema() as Required<Schema>;
  const tables = Object.entries(properties).map(([block, schema]) =>
    [
      `### \`${block}\`\n`,
      ...["| setting | default | meaning |", "| --- | --- | --- |"],
      ...rows(schema),
    ].join("\n")
  );
  return page.replace(BETWEEN, `$1\n${tables.join("\n\n")}\n\n$2`);
}

function rows({ properties = {} }: Schema, within = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties && !schema.description
      ? rows(schema, `${within}${name}.`)
      : [`| \`${within}${name}\` | ${shown(schema)} | ${schema.description ?? ""} |`]
  );
}

/** Lists and maps have their defaults told in words. */
function shown({ default: fallback }: Schema): string {
  return typeof fallback === "object" || fallback === undefined ? "" : `\`${fallback}\``;
}

/** The page as it is. */
export function page(): string {
  return readFileSync(PAGE, "utf8");
}

if (process.argv[1]?.endsWith("detectors.ts")) writeFileSync(PAGE, pageWithDetectors(page()));

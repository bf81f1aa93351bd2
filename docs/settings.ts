/** Writes the table of settings in `operating.md` from the schema that checks them: `npm run docs`. */
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { SETTINGS } from "../config.ts";

const PAGE = new URL("./operating.md", import.meta.url);
const BETWEEN = /(<!-- settings: [^>]* -->\n)[\s\S]*(<!-- settings end -->)/;

/** The page as it should be. */
export function pageWithSettings(page: string): string {
  const { properties } = z.toJSONSchema(SETTINGS, { io: "input", unrepresentable: "any" }) as {
    properties: Record<string, { default?: unknown; description?: string }>;
  };
  const rows = Object.entries(properties).map(([name, { default: fallback, description }]) =>
    `| \`${name}\` | ${fallback === undefined ? "" : `\`${fallback}\``} | ${description ?? ""} |`
  );
  const table = ["| setting | default | meaning |", "| --- | --- | --- |", ...rows].join("\n");
  return page.replace(BETWEEN, `$1\n${table}\n\n$2`);
}

/** The page as it is. */
export function page(): string {
  return readFileSync(PAGE, "utf8");
}

if (process.argv[1]?.endsWith("settings.ts")) writeFileSync(PAGE, pageWithSettings(page()));

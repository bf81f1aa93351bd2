/** Writes `runbook.schema.json`, `runbook-commands.schema.json`, and the table in `runbooks.md`: `npx tsx docs/runbooks.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "../config.ts";
import {
  CommandsFile,
  loadRunbooks,
  type Runbook,
  RunbookFile,
  SHIPPED_RUNBOOKS,
} from "../runbooks/mod.ts";

const at = (name: string) => join(ROOT, "docs", name);
const BETWEEN = /(<!-- runbooks: [^>]* -->\n)[\s\S]*(<!-- runbooks end -->)/;

/** JSON Schemas of the two kinds of files, by the names that they are published under. */
export function schemas(): Readonly<Record<string, string>> {
  const of = (schema: z.ZodType, title: string) =>
    `${JSON.stringify({ title, ...z.toJSONSchema(schema, { io: "input" }) }, null, 2)}\n`;
  return {
    "runbook.schema.json": of(RunbookFile, "A runbook"),
    "runbook-commands.schema.json": of(CommandsFile, "Commands that runbooks may run"),
  };
}

/** The page as it should be. */
export function pageWithRunbooks(page: string): string {
  const { runbooks } = loadRunbooks(SHIPPED_RUNBOOKS);
  const rows = runbooks.map(row).join("\n");
  const head = "| runbook | when | steps | undone |\n| --- | --- | --- | --- |";
  return page.replace(BETWEEN, `$1\n${head}\n${rows}\n\n$2`);
}

function row({ runbook, match, parameters, needs, steps }: Runbook): string {
  const found = (match.findings ?? []).map(({ check, codes }) =>
    codes.includes("*") ? check : `${check}: ${codes.join(" ")}`
  );
  const given = Object.entries(parameters).filter(([, p]) => p.default === undefined)
    .map(([name, { from }]) => `\`${name}\`${from ? " or has a bounded folder" : ""}`);
  const when = [
    ...found,
    ...(match.words ? [`says ${match.words.map((word) => `“${word}”`).join(" or ")}`] : []),
    ...(match.types ? [`type ${match.types.join(" ")}`] : []),
    ...(needs.includes("restart") ? ["lists a restart"] : []),
    ...(given.length > 0 ? [`gives ${given.join(", ")}`] : []),
  ].join("; ");
  const kinds = steps.map((step) =>
    Object.keys(step).find((key) => KINDS.has(key)) + (step.bounds.ask ? " (asks first)" : "")
  );
  const undone = steps.filter(({ undo }) => !("none" in undo)).map(({ step }) => step);
  return `| \`${runbook}\` | ${when.replaceAll("*", "\\*")} | ${kinds.join(", ")} | ${
    undone.join(", ") || "no"
  } |`;
}

const KINDS = new Set([
  ...["restart", "http", "command", "clean", "purge", "wait", "workflow", "notify"],
]);

/** A file of this folder as it is. */
export const published = (name: string): string => readFileSync(at(name), "utf8");

if (process.argv[1]?.endsWith("docs/runbooks.ts")) {
  for (const [name, text] of Object.entries(schemas())) writeFileSync(at(name), text);
  writeFileSync(at("runbooks.md"), pageWithRunbooks(published("runbooks.md")));
}

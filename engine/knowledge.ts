/** The articles and labelled reports that ship with the product. */
import { readdirSync, readFileSync } from "node:fs";
import { SEVERITIES } from "../domain/mod.ts";
import { CATEGORIES } from "./labels.ts";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const lines = z.array(z.string().min(1));
const ARTICLE = z.strictObject({
  id: z.string(),
  title: z.string(),
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  applies_to: lines,
  symptoms: lines,
  causes: lines,
  checks: lines,
  fixes: lines,
  escalate_when: z.string(),
  words: z.record(z.string(), lines).default({}),
});
const REPORT = z.strictObject({
  text: z.string(),
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  language: z.enum(["en", "de", "fr", "es", "tr"]),
  voice: z.enum(["alert", "log", "user", "mail", "chat", "shorthand", "ticket"]),
});

/** What is known of one kind of fault: how it shows, what it comes from, how to check and mend it. */
export type Article = Readonly<z.output<typeof ARTICLE>>;

/** What somebody or something reported, and what it turned out to be. */
export type LabelledReport = Readonly<z.output<typeof REPORT>>;

/**
 * Reads the articles of a folder of YAML files, in the order of their names.
 *
 * @throws {z.ZodError} one has another shape
 */
export function readArticles(folder: string): Article[] {
  return filesOf(folder, ".yaml").flatMap((text) => z.array(ARTICLE).parse(parse(text)));
}

/**
 * Reads the labelled reports of a folder of files with one JSON object a line, in the order of their names.
 *
 * @throws {z.ZodError} one has another shape
 */
export function readReports(folder: string): LabelledReport[] {
  return filesOf(folder, ".jsonl").flatMap((text) =>
    text.split("\n").filter((line) => line !== "").map((line) => REPORT.parse(JSON.parse(line)))
  );
}

function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(ending)).sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

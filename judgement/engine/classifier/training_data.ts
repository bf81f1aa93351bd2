/** The articles and labelled reports that ship with the product. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { SEVERITIES } from "../../../contract/domain/mod.ts";
import { CATEGORIES } from "./categories.ts";

const Lines = z.array(z.string().min(1));
const ArticleSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  applies_to: Lines,
  symptoms: Lines,
  causes: Lines,
  checks: Lines,
  fixes: Lines,
  escalate_when: z.string(),
  words: z.record(z.string(), Lines).default({}),
});
const ReportSchema = z.strictObject({
  text: z.string(),
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  language: z.enum(["en", "de", "fr", "es", "tr"]),
  voice: z.enum([
    "alert",
    "log",
    "user",
    "mail",
    "chat",
    "shorthand",
    "ticket",
    "manager",
    "vendor",
    "postmortem",
  ]),
  /** The public thread that it was first told in. */
  source: z.string().optional(),
  /** Its weight in training, where it is not 1. */
  importance: z.number().positive().optional(),
});
const JudgedReportSchema = z.strictObject({
  text: z.string(),
  /** Ids of the articles about its fault. */
  about: z.array(z.string()),
  /** Ids of the articles that a search finds for it and that are about another fault. */
  not: z.array(z.string()),
});

/** An article about one kind of fault: its symptoms and causes, how to check for it and fix it. */
export type Article = Readonly<z.output<typeof ArticleSchema>>;

/** A report by a person or a program, with its right category and severity. */
export type LabelledReport = Readonly<z.output<typeof ReportSchema>>;

/** A report, with articles that a person has judged for it. An article that is not named is about another fault. */
export type JudgedReport = Readonly<z.output<typeof JudgedReportSchema>>;

/**
 * Reads the articles of a folder of YAML files, in the order of the files' names.
 *
 * @throws {z.ZodError} an article has another shape
 */
export function readArticles(folder: string): Article[] {
  return readFiles(folder, ".yaml").flatMap((text) => z.array(ArticleSchema).parse(parse(text)));
}

/**
 * Reads the labelled reports of a folder of files with one JSON object a line, in the order of the files' names.
 *
 * @throws {z.ZodError} a report has another shape
 */
export function readReports(folder: string): LabelledReport[] {
  return readLines(folder).map((line) => ReportSchema.parse(line));
}

/**
 * Reads the judged reports of a folder, as {@linkcode readReports} does.
 *
 * @throws {z.ZodError} a report has another shape
 */
export function readJudgedReports(folder: string): JudgedReport[] {
  return readLines(folder).map((line) => JudgedReportSchema.parse(line));
}

function readLines(folder: string): unknown[] {
  return readFiles(folder, ".jsonl").flatMap((text) =>
    text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
  );
}

function readFiles(folder: string, extension: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(extension)).sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

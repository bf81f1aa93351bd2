import { existsSync, readFileSync } from "node:fs";
import { type Document, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { findYamlExcess } from "./_yaml_limits.ts";

/** A mistake in a file. */
export interface Mistake {
  /** From 1. */
  readonly line: number;
  /** Description of the mistake, and where known what would be right. */
  readonly text: string;
}

/** Content of a YAML file. */
export interface YamlContent<T> {
  readonly value: T;
  /** Returns the line on which a value begins, or else the value that contains it; from 1. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Explains an issue of a schema where the schema's own words don't. */
export type Explain = (issue: z.core.$ZodIssue) => string;

/** A file that is read as YAML, with lines. */
interface Source {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

/**
 * Reads a YAML file and checks it. A file that is missing or empty is checked as `{}`.
 *
 * @returns its content, or each mistake with its line
 */
export function readYamlFile<T extends z.ZodType>(
  path: string,
  schema: T,
  explain?: Explain,
): YamlContent<z.output<T>> | { mistakes: Mistake[] } {
  return readYaml(existsSync(path) ? readFileSync(path, "utf8") : "", schema, explain);
}

/** Checks a text as {@linkcode readYamlFile} does a file. */
export function readYaml<T extends z.ZodType>(
  text: string,
  schema: T,
  explain: Explain = (issue) => issue.message,
): YamlContent<z.output<T>> | { mistakes: Mistake[] } {
  const excess = findYamlExcess(text);
  if (excess) return { mistakes: [excess] };
  const lines = new LineCounter();
  const source: Source = { document: parseDocument(text, { lineCounter: lines }), lines };
  const { errors } = source.document;
  if (errors.length > 0) {
    const mistakes = errors.map(({ pos, message }): Mistake => ({
      line: lines.linePos(pos[0]).line,
      text: message.split("\n")[0]!,
    }));
    return { mistakes };
  }
  const parsed = schema.safeParse(source.document.toJS() ?? {});
  if (parsed.success) return { value: parsed.data, lineOf: (path) => lineOf(source, path) };
  const issues = parsed.error.issues.flatMap(issuesOfMeantForm);
  return { mistakes: issues.flatMap((issue) => toMistakes(source, issue, explain(issue))) };
}

/** Formats mistakes as a message, one a line. */
export function formatMistakes(mistakes: readonly Mistake[]): string {
  return mistakes.map(({ line, text }) => `  line ${line}: ${text}`).join("\n");
}

function toMistakes(source: Source, issue: z.core.$ZodIssue, explanation: string): Mistake[] {
  if (issue.code !== "unrecognized_keys") {
    const text = `${issue.path.join(".")}: ${explanation}`;
    return [{ line: lineOf(source, issue.path), text }];
  }
  return issue.keys.map((key) => ({
    line: keyLine(source, key, issue.path),
    text: `${[...issue.path, key].join(".")}: ${explanation}`,
  }));
}

function lineOf({ document, lines }: Source, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: [number] } | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

/** Returns the line of the key itself: its value may begin on a later one. */
function keyLine(source: Source, key: string, path: readonly PropertyKey[]): number {
  const { document, lines } = source;
  const map = (path.length === 0 ? document.contents : document.getIn(path, true)) as {
    items?: { key?: { value?: unknown; range?: [number] } }[];
  } | null;
  const range = map?.items?.find((item) => item.key?.value === key)?.key?.range;
  return range ? lines.linePos(range[0]).line : lineOf(source, path);
}

/**
 * Returns the issues of the one form that is meant, where a value may have several: the form with the fewest unknown keys.
 * Returns the issue itself where no form stands out.
 */
function issuesOfMeantForm(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const unknown = issue.errors.map((issues) => Math.max(0, ...issues.map(countUnknownKeys)));
  const fewest = Math.min(...unknown);
  const meant = issue.errors.filter((_, n) => unknown[n] === fewest);
  if (fewest === Infinity || meant.length !== 1) return [issue];
  if (!meant[0]!.every(({ path }) => path.length > 0)) return [issue];
  return meant[0]!
    .map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    .flatMap(issuesOfMeantForm);
}

/** Counts the keys that a form does not know; infinite where the value is of another type. */
function countUnknownKeys(issue: z.core.$ZodIssue): number {
  if (issue.path.length > 0) return 0;
  if (issue.code === "unrecognized_keys") return issue.keys.length;
  return issue.code === "invalid_type" ? Infinity : 0;
}

import { existsSync, readFileSync } from "node:fs";
import { type Document, LineCounter, parseDocument, type YAMLParseError } from "yaml";
import type { z } from "zod";
import { adviseField } from "./known_fields.ts";
import { findYamlExcess } from "./_yaml_limits.ts";
import type { Mistake } from "./bad_file.ts";

/** Place in a file, from 1. */
type Place = Pick<Mistake, "line" | "column">;

/** Content of a YAML file. */
export interface YamlContent<T> {
  readonly value: T;
  /** Returns the place at which a value begins, or else the value that contains it. */
  placeOf(path: readonly PropertyKey[]): Place;
}

/**
 * Explains an issue of a schema where the schema's own words don't, in words that everybody may read. Undefined: they do.
 * Unknown fields need none: the similar one is suggested, or all are listed.
 */
export type Explain = (issue: z.core.$ZodIssue) => string | undefined;

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
  explain: Explain = () => undefined,
): YamlContent<z.output<T>> | { mistakes: Mistake[] } {
  const excess = findYamlExcess(text);
  if (excess) return { mistakes: [{ ...excess, open: excess.text }] };
  const lines = new LineCounter();
  const source: Source = { document: parseDocument(text, { lineCounter: lines }), lines };
  const { errors } = source.document;
  if (errors.length > 0) {
    return { mistakes: errors.map((error) => toSyntaxMistake(error, lines)) };
  }
  const parsed = schema.safeParse(source.document.toJS() ?? {});
  if (parsed.success) return { value: parsed.data, placeOf: (path) => placeOf(source, path) };
  const issues = parsed.error.issues.flatMap(issuesOfMeantForm);
  return { mistakes: issues.flatMap((issue) => toMistakes(source, schema, issue, explain)) };
}

/** Returns a mistake of the form of YAML. Its message names no value, but for an alias. */
function toSyntaxMistake({ pos, message }: YAMLParseError, lines: LineCounter): Mistake {
  const { line, col: column } = lines.linePos(pos[0]);
  const text = message.split("\n")[0]!.replace(/ at line \d+, column \d+:?$/, "");
  return { line, column, text, open: text };
}

function toMistakes(
  source: Source,
  schema: z.ZodType,
  issue: z.core.$ZodIssue,
  explain: Explain,
): Mistake[] {
  if (issue.code !== "unrecognized_keys") {
    const open = explain(issue) ?? messageOf(issue, source);
    return [{ ...placeOf(source, issue.path), text: `${issue.path.join(".")}: ${open}`, open }];
  }
  return issue.keys.map((key) => {
    const open = explain(issue) ?? `unknown field${adviseField(schema, issue.path, key)}`;
    const text = `${[...issue.path, key].join(".")}: ${open}`;
    return { ...keyPlace(source, key, issue.path), text, open };
  });
}

function placeOf({ document, lines }: Source, path: readonly PropertyKey[]): Place {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: [number] } | undefined;
    if (node?.range) return toPlace(lines, node.range[0]);
  }
  return { line: 1 };
}

/** Returns the schema's own words; of a field that is not there, that it is missing. */
function messageOf({ code, path, message }: z.core.$ZodIssue, { document }: Source): string {
  const isMissing = code === "invalid_type" && path.length > 0 && !document.hasIn(path);
  return isMissing
    ? message.replace(/^Invalid input: (.*), received \w+$/, "missing; $1")
    : message;
}

/** Returns the place of the key itself: its value may begin on a later line. */
function keyPlace(source: Source, key: string, path: readonly PropertyKey[]): Place {
  const { document, lines } = source;
  const map = (path.length === 0 ? document.contents : document.getIn(path, true)) as {
    items?: { key?: { value?: unknown; range?: [number] } }[];
  } | null;
  const range = map?.items?.find((item) => item.key?.value === key)?.key?.range;
  return range ? toPlace(lines, range[0]) : placeOf(source, path);
}

function toPlace(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
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

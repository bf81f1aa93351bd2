import { existsSync, readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";

/** What is wrong with a file: at which line, and what would be right. */
export interface Mistake {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** What a file says. */
export interface ReadYaml<T> {
  readonly value: T;
  /** Line on which what lies at a path begins, or else what it lies in; from 1. */
  lineOf(at: readonly PropertyKey[]): number;
}

/**
 * Reads a YAML file and checks it. A file that is not there, or is empty, is checked as `{}`.
 *
 * @param explain what would be right, where the schema's own words don't say so
 * @returns the value, or each mistake with its line
 */
export function readYamlFile<T extends z.ZodType>(
  path: string,
  schema: T,
  explain?: (issue: z.core.$ZodIssue) => string,
): ReadYaml<z.output<T>> | { mistakes: Mistake[] } {
  return readYaml(existsSync(path) ? readFileSync(path, "utf8") : "", schema, explain);
}

/** As {@linkcode readYamlFile}, where the file has been read already. */
export function readYaml<T extends z.ZodType>(
  text: string,
  schema: T,
  explain: (issue: z.core.$ZodIssue) => string = (issue) => issue.message,
): ReadYaml<z.output<T>> | { mistakes: Mistake[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    return {
      mistakes: document.errors.map(({ pos, message }) => ({
        line: lines.linePos(pos[0]).line,
        text: message.split("\n")[0]!,
      })),
    };
  }
  const lineOf = (at: readonly PropertyKey[]): number => {
    for (let length = at.length; length >= 0; length--) {
      const node = document.getIn(at.slice(0, length), true) as { range?: [number] } | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  const parsed = schema.safeParse(document.toJS() ?? {});
  if (parsed.success) return { value: parsed.data, lineOf };
  return {
    mistakes: parsed.error.issues.flatMap(withinUnion).flatMap((issue) => {
      const where = issue.path.join(".");
      if (issue.code === "unrecognized_keys") {
        return issue.keys.map((key) => ({
          line: keyLine(key, issue.path),
          text: `${[...issue.path, key].join(".")}: ${explain(issue)}`,
        }));
      }
      return [{ line: lineOf(issue.path), text: `${where}: ${explain(issue)}` }];
    }),
  };

  /** The line of the key itself: its value may begin on a later one. */
  function keyLine(key: string, path: readonly PropertyKey[]): number {
    const map = (path.length === 0 ? document.contents : document.getIn(path, true)) as {
      items?: { key?: { value?: unknown; range?: [number] } }[];
    } | null;
    const range = map?.items?.find((item) => item.key?.value === key)?.key?.range;
    return range ? lines.linePos(range[0]).line : lineOf(path);
  }
}

/**
 * What is wrong within the one form that is meant, where a value may have several: the form with the fewest keys that
 * it does not know. The issue itself, where that can't be told.
 */
function withinUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const strangers = issue.errors.map((issues) => Math.max(0, ...issues.map(strangersOf)));
  const fewest = Math.min(...strangers);
  const meant = issue.errors.filter((_, n) => strangers[n] === fewest);
  if (fewest === Infinity || meant.length !== 1) return [issue];
  if (!meant[0]!.every(({ path }) => path.length > 0)) return [issue];
  return meant[0]!
    .map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    .flatMap(withinUnion);
}

/** Keys that a form does not know; infinite where the value is of another type. */
function strangersOf(issue: z.core.$ZodIssue): number {
  if (issue.path.length > 0) return 0;
  if (issue.code === "unrecognized_keys") return issue.keys.length;
  return issue.code === "invalid_type" ? Infinity : 0;
}

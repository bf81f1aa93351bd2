import { existsSync, readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";

/** What is wrong with a file: at which line, and what would be right. */
export interface Mistake {
  /** From 1. */
  readonly line: number;
  readonly text: string;
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
): { value: z.output<T> } | { mistakes: Mistake[] } {
  return readYaml(existsSync(path) ? readFileSync(path, "utf8") : "", schema, explain);
}

/** As {@linkcode readYamlFile}, where the file has been read already. */
export function readYaml<T extends z.ZodType>(
  text: string,
  schema: T,
  explain: (issue: z.core.$ZodIssue) => string = (issue) => issue.message,
): { value: z.output<T> } | { mistakes: Mistake[] } {
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
  if (parsed.success) return { value: parsed.data };
  return {
    mistakes: parsed.error.issues.flatMap((issue) => {
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

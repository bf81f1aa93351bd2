import { escapeInvisible, toLine } from "../../contract/text/mod.ts";

/**
 * Returns an action as JSON, its fields in the order of their names as they are shown. Texts of several lines, such as articles,
 * stand behind it, each line marked, to be read. Characters that can't be seen are spelled out one text at a time, so that no
 * two fields become one.
 */
export function printAction(action: Readonly<Record<string, unknown>>): string {
  const texts: string[] = [];
  const json = printValue(action, "", "", texts);
  return [json, ...texts].join("\n");
}

function printValue(value: unknown, name: string, indent: string, texts: string[]): string {
  if (typeof value === "string") return printText(value, name, texts);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((item, n) => printValue(item, String(n), inner, texts))
    : inOrder(value).map(([shown, key, item]) =>
      `${JSON.stringify(shown)}: ${printValue(item, key, inner, texts)}`
    );
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item}`).join(",\n")}\n${indent}${close}`;
}

function printText(text: string, name: string, texts: string[]): string {
  const lines = escapeInvisible(text).split("\n");
  if (lines.length === 1) return JSON.stringify(lines[0]);
  texts.push(`${toLine(name)}:\n${lines.map((line) => `| ${line}`.trimEnd()).join("\n")}`);
  return JSON.stringify(`${lines.length} lines, below`);
}

/** Returns the fields of an object, each with its name as it is shown, ordered by the UTF-16 code units of that. */
function inOrder(fields: object): (readonly [string, string, unknown])[] {
  return Object.entries(fields).map(([name, value]) =>
    [escapeInvisible(name), name, value] as const
  ).sort(([a, rawA], [b, rawB]) => a < b || a === b && rawA < rawB ? -1 : 1);
}

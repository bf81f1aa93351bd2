/**
 * Sentences of the platform, each with a record for which it is true and one that makes it false.
 *
 * The sentences are read from the sources, so that a new one without such a pair fails its test.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, parse } from "acorn";
import { transformSync } from "esbuild";
import { ROOT } from "../config.ts";

/** A sentence as the source has it, with `…` for what is inserted; a record for which it is true; one that makes it false. */
export type Pair<Record> = readonly [says: string, of: Record, not: Record];

/** The sentences of some sources. */
export interface Sentences<Record> {
  /** Paths from the root. */
  readonly sources: readonly string[];
  readonly pairs: readonly Pair<Record>[];
  /** Texts that claim nothing about a record: headings, units, questions. */
  readonly labels: readonly string[];
  /** Sentences that no record can make false, with the reason. */
  readonly always: Readonly<{ [says: string]: string }>;
  /** Writes the text about a record. */
  tell(record: Record): string | Promise<string>;
}

/** Tests that each sentence of the sources has a pair, is said of its first record, and not of its second. */
export function testSentences<Record>(
  { sources, pairs, labels, always, tell }: Sentences<Record>,
): void {
  it("have a record that makes each of them false", () => {
    const others = [...labels, ...Object.keys(always)];
    const told = new Set([...pairs.map(([says]) => says), ...others]);
    const written = new Set(sources.flatMap(readTemplates));
    assert.deepEqual([...written].filter((says) => !told.has(says)), [], "these have no pair");
    assert.deepEqual(others.filter((says) => !written.has(says)), [], "nothing says these");
  });

  it("are said of the record for which they are true, and not of the other", async () => {
    const wrong: string[] = [];
    for (const [says, of, not] of pairs) {
      const pattern = patternOf(says);
      const [text, other] = [await tell(of), await tell(not)];
      if (!pattern.test(text)) wrong.push(`not said, though true: ${says}\n${text}`);
      if (pattern.test(other)) wrong.push(`said, though false: ${says}\n${other}`);
    }
    assert.equal(wrong.join("\n\n"), "");
  });
}

/** Returns what finds a sentence in a text, whatever is inserted, and whether or not it begins a sentence there. */
function patternOf(says: string): RegExp {
  const parts = says.split("…").map((part) =>
    part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s+")
  );
  const start = /^\p{Ll}/u.exec(parts[0]!)?.[0];
  if (start) parts[0] = `[${start}${start.toUpperCase()}]${parts[0]!.slice(1)}`;
  return new RegExp(parts.join("[^\\n]*?"));
}

/** Returns the texts of a source that have two words, or one beside a space, without tags, queries and lists of words. */
function readTemplates(path: string): string[] {
  const source = readFileSync(join(ROOT, path), "utf8");
  const { code } = transformSync(source, { loader: "ts", target: "esnext" });
  const texts: string[] = [];
  walk(parse(code, { ecmaVersion: "latest", sourceType: "module" }), texts);
  return texts.filter((text) => !/^\s*SELECT /.test(text) && !/^[a-z ]{200,}$/.test(text))
    .flatMap((text) => text.split(/<[a-z/!][^>]*>/))
    .filter((text) => /\s/.test(text) && /\p{L}{2}/u.test(text))
    .map((text) => text.replace(/\s+/g, " ").trim().replace(/…\.$/, "…"));
}

function walk(node: unknown, texts: string[], isPart = false): void {
  if (Array.isArray(node)) node.forEach((inner) => walk(inner, texts));
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  const text = textOf(node as Node);
  if (text !== undefined && !isPart) texts.push(text);
  for (const inner of Object.values(node)) {
    walk(inner, texts, text !== undefined && textOf(inner) !== undefined);
  }
}

/** Returns a text with `…` for what is inserted; undefined: the node is none. */
function textOf(node: unknown): string | undefined {
  const { type, value, quasis, operator, left, right } = (node ?? {}) as {
    type?: string;
    value?: unknown;
    quasis?: { value: { cooked: string } }[];
    operator?: string;
    left?: Node;
    right?: Node;
  };
  if (type === "Literal") return typeof value === "string" ? value : undefined;
  if (type === "TemplateLiteral") return quasis!.map((one) => one.value.cooked).join("…");
  if (type !== "BinaryExpression" || operator !== "+") return undefined;
  const sides = [textOf(left), textOf(right)];
  return sides.every((side) => side === undefined)
    ? undefined
    : sides.map((side) => side ?? "…").join("");
}

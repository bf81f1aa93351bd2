import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, parse } from "acorn";
import { transformSync } from "esbuild";
import { parse as parseYaml } from "yaml";
import { ROOT } from "../../config.ts";
import { findInjection } from "../../judgement/guard/mod.ts";
import { createMakeSafe } from "../../mcp/mod.ts";

/** Rooms whose sentences agents read in answers. */
const ROOMS = [
  "activities",
  "calls",
  "contract",
  "integrations",
  "judgement",
  "operations",
  "store",
];
/** What the guardrails read texts by: words of attacks. */
const OF_ATTACKS = /^judgement\/(?:guard\/.*\.yaml|engine\/lexicon|shield\/)/;
const SQL = /^\s*(?:--|SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|GRANT|id =)/;

describe("the platform's own words", () => {
  it("never read like orders to an agent, so that a warning is about the words of others", () => {
    const sources = ROOMS.flatMap(listFiles).filter((path) => !OF_ATTACKS.test(path));
    const sentences = sources.flatMap((path) =>
      (path.endsWith(".ts") ? readTexts(path) : readYamlTexts(path)).map((text) => ({ path, text }))
    ).filter(({ text }) => text.includes(" ") && !SQL.test(text));
    assert.ok(sentences.length > 5_000, `${sentences.length} sentences were found`);
    const found = sentences.filter(({ text }) => findInjection(text).length > 0)
      .map(({ path, text }) => `${path}: ${text} (${findInjection(text).join(", ")})`);
    assert.deepEqual(found, []);
  });

  it("include codes, which a stranger's order is too long for", async () => {
    const makeSafe = createMakeSafe(findInjection, () => Promise.resolve(new Map()));
    const found = async (category: string) =>
      (await makeSafe("platform", { category })).injections.length;
    assert.equal(await found("guardrail_verdict"), 0);
    assert.equal(await found("ignore_all_previous_instructions"), 1);
  });
});

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return listFiles(path);
    return /\.(?:ts|yaml)$/.test(path) ? [path] : [];
  });
}

function readYamlTexts(path: string): string[] {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk);
  };
  walk(parseYaml(readFileSync(join(ROOT, path), "utf8"), { logLevel: "silent" }));
  return texts;
}

/** Returns the texts of a program, with a name in place of what they insert, without descriptions of the interface. */
function readTexts(path: string): string[] {
  const source = readFileSync(join(ROOT, path), "utf8");
  const { code } = transformSync(source, { loader: "ts", target: "esnext" });
  const texts: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node !== "object" || node === null || describesInterface(node)) return;
    const text = textOf(node as Syntax);
    if (text === undefined) Object.values(node).forEach(walk);
    else texts.push(text);
  };
  walk(parse(code, { ecmaVersion: "latest", sourceType: "module" }));
  return texts;
}

type Syntax = Node & Readonly<Record<string, never>>;

/** Joins the parts of a text; undefined: it is none. */
function textOf(node: Syntax): string | undefined {
  const { type, value, quasis, operator, left, right } = node as Readonly<Record<string, unknown>>;
  if (type === "Literal") return typeof value === "string" ? value : undefined;
  if (type === "TemplateLiteral") {
    return (quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join(
      "shop",
    );
  }
  if (type !== "BinaryExpression" || operator !== "+") return undefined;
  const [start, end] = [left, right].map((side) => textOf(side as Syntax));
  return start === undefined && end === undefined
    ? undefined
    : `${start ?? "shop"}${end ?? "shop"}`;
}

/** Descriptions are not part of an answer. */
function describesInterface(node: object): boolean {
  const { type, callee, key } = node as Readonly<
    Record<string, { name?: string; property?: { name?: string } }>
  >;
  return String(type) === "CallExpression" && callee?.property?.name === "describe" ||
    String(type) === "Property" && /^(?:summary|description|about)$/.test(key?.name ?? "");
}

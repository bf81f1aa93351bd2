/** Known parts of SQL, by `sql.yaml`: statements, functions and tables, by whole words. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import { lastPart, type SqlToken, sqlTokens } from "./_sql_tokens.ts";

const NO_PATTERN = z.string().regex(/^[^*]*$/, {
  error: "Names must be written out: a pattern would let in what nobody has looked at",
});
const WORDS = NO_PATTERN.transform((text) => new Set(text.split(/\s+/).filter(Boolean)));
const PHRASES = NO_PATTERN.transform((text) =>
  text.split(/,\s*/).map((phrase) => phrase.trim().split(" "))
);
const {
  beginnings,
  whole,
  client,
  endings,
  passing_tables,
  secret_tables,
  reaching,
  changes,
  functions,
} = z
  .strictObject({
    beginnings: z.record(z.string(), PHRASES),
    whole: z.record(z.string(), PHRASES),
    client: z.string().transform((text) => new Set(text.split(/\s+/))),
    endings: z.string().transform((text) => new Set(text.split(/\s+/))),
    passing_tables: z.strictObject({ names: WORDS, begin: WORDS, never: WORDS }),
    secret_tables: WORDS,
    reaching: WORDS,
    changes: PHRASES,
    functions: WORDS,
  }).parse(parse(readFileSync(join(ROOT, "judgement", "guard", "sql.yaml"), "utf8")));
const BEGINNINGS = Object.values(beginnings).flat();
const WHOLE = Object.values(whole).flat();

function fits(phrase: readonly string[], tokens: readonly SqlToken[]): boolean {
  return phrase.every((word, n) => {
    const token = tokens[n];
    if (word === "<n>") return token?.kind === "number";
    if (word === "<name>") return token?.kind === "name" || token?.kind === "text";
    return token?.kind === "name" && token.value === word;
  });
}

/** Tells whether a statement begins with words that are known, or is wholly known. */
export function isKnownStatement(tokens: readonly SqlToken[]): boolean {
  if (tokens[0]?.value === "explain") return explainsReading(tokens);
  return BEGINNINGS.some((phrase) => fits(phrase, tokens)) ||
    WHOLE.some((phrase) => phrase.length === tokens.length && fits(phrase, tokens));
}

/** Tells whether `explain (analyze, verbose) select …` is about a statement that reads, or about a table. */
function explainsReading(tokens: readonly SqlToken[]): boolean {
  let at = 1;
  while (
    /^(analyze|verbose|extended|plan|pipeline|query|for|format)$/.test(tokens[at]?.value ?? "")
  ) at++;
  if (tokens[at]?.value === "(") {
    at = tokens.findIndex(({ value }, n) => n > at && value === ")") + 1;
  }
  if (tokens[at]?.value === "=") at += 2;
  return /^(select|with|values|table)$/.test(tokens[at]?.value ?? "") ||
    tokens[at]?.kind === "name" && at === tokens.length - 1 || tokens[at]?.value === "(";
}

/** Tells whether text is a command of the client itself that only looks. */
export function isClientCommand(text: string): boolean {
  const [word = "", ...rest] = text.trim().split(/\s+/);
  return client.has(word) && rest.every((one) => /^[\w.*'"-]+$/.test(one));
}

/** Returns the first client's word within a statement that does more than show the result; undefined: there is none. */
export function unknownClientWord(tokens: readonly SqlToken[]): string | undefined {
  return tokens.find(({ kind, value }, n) => {
    if (kind !== "client") return false;
    const after = tokens[n + 1];
    const isEnd = after === undefined || value === "\\watch" && tokens.length === n + 2;
    return !endings.has(value) || !isEnd;
  })?.value;
}

/** Tells whether a statement changes something, or writes, although it begins as if it only read. */
export function changesWithin(tokens: readonly SqlToken[]): boolean {
  return tokens.some(({ kind, value }, n) => {
    if (kind !== "name") return false;
    if (value === "into" && tokens[0]?.value !== "insert") return true;
    if (value === "update" && tokens.slice(n + 1, n + 4).some((one) => one.value === "set")) {
      return true;
    }
    return changes.some((phrase) => fits(phrase, tokens.slice(n)));
  });
}

/** Returns the first function of a statement that is not known; undefined: there is none. */
export function unknownFunction(tokens: readonly SqlToken[]): string | undefined {
  return tokens.find(({ kind, value }, n) => {
    if (kind !== "name" || tokens[n + 1]?.value !== "(") return false;
    const before = tokens[n - 1]?.value;
    // `ON table (column)`, `USING btree (column)` and `WITH name (column) AS` call nothing.
    if (/^(on|using|only|exists)$/.test(before ?? "") && tokens[0]?.value === "create") {
      return false;
    }
    if (before === "with" || before === "as") return false;
    const plain = value.replace(/^pg_catalog\./, "");
    return !functions.has(plain);
  })?.value;
}

/** Tells whether a statement names a table of passwords. */
export function namesSecretTable(tokens: readonly SqlToken[]): boolean {
  if (fits(["show", "create", "user"], tokens)) return true;
  const showsAll = tokens[0]?.value === "table" ||
    tokens.some(({ kind, value }, n) =>
      value === "*" && tokens[n - 1]?.value !== "(" ||
      kind === "name" && /pass|auth|passw|pwd/.test(value)
    );
  return showsAll &&
    tokens.some(({ kind, value }) =>
      kind === "name" && (secret_tables.has(value) || secret_tables.has(lastPart(value)))
    );
}

/** Tells whether a statement leaves the database: by a function, or to a program or file of the server. */
export function leavesDatabase(text: string): boolean {
  const tokens = sqlTokens(text);
  return tokens.some(({ kind, value }, n) => {
    if (kind !== "name") return false;
    if (reaching.has(lastPart(value))) return true;
    const next = tokens[n + 1]?.value;
    return /^(to|from)$/.test(value) && next === "program" || value === "load" && next === "data" ||
      value === "into" && /^(outfile|dumpfile)$/.test(next ?? "");
  });
}

/** Tells whether a table holds what passes by, by its whole name. */
export function isPassingTable(name: string): boolean {
  const plain = lastPart(name.replace(/["'`[\]]/g, ""));
  const words = plain.replace(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase().split("_").filter(
    Boolean,
  );
  if (words.some((word) => passing_tables.never.has(word)) && words.length > 0) {
    return passing_tables.begin.has(words[0]!) && !/^failed$/.test(words[0]!);
  }
  return passing_tables.names.has(plain.toLowerCase()) ||
    passing_tables.names.has(words.at(-1) ?? "") ||
    passing_tables.begin.has(words[0] ?? "");
}

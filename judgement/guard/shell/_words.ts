/** Expands words as the shell does: variables, braces, quotes and known substitutions. */
import { parse, type Word, type WordPart } from "unbash";
import { UNKNOWN } from "./_types.ts";

/** The environment in which a word is expanded. */
export interface Scope {
  /** Variables by name. Others are {@linkcode UNKNOWN}. */
  readonly variables: Map<string, string>;
  /** Returns the output of a command substitution, and records what it runs. */
  outputOf(part: Extract<WordPart, { type: "CommandExpansion" | "ProcessSubstitution" }>): string;
  /** Records what arithmetic text runs. */
  evaluate(text: string): void;
  /** Records what text runs although it was quoted. */
  evaluateQuoted(text: string): void;
  /** Records that the line runs text which can't be seen. */
  hide(): void;
}

/** Variables that every shell has. */
const DEFAULT_VARIABLES: ReadonlyMap<string, string> = new Map([
  ["IFS", " "],
  ["HOME", "~"],
  ["PWD", UNKNOWN],
  ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  ["SHELL", "/bin/bash"],
  ["TMPDIR", "/tmp"],
  ["USER", UNKNOWN],
]);
const MAX_FIELDS = 64;

/** Returns the fields that one word becomes: none (an empty variable), one, or several (braces, unquoted spaces). */
export function fieldsOf(word: Word, scope: Scope): string[] {
  const braces = word.parts?.some(({ type }) => type === "BraceExpansion");
  if (braces) {
    const written = expandBraces(word.text);
    if (written.length > 1) {
      return written.flatMap((text) => fieldsOfText(text, scope)).slice(0, MAX_FIELDS);
    }
  }
  const build = new FieldBuilder(scope);
  addParts(word.parts ?? [], word.value, build, scope);
  return build.done();
}

/** Returns the text of a word that is not split, such as the target of a redirection. */
export function wordText(word: Word | undefined, scope: Scope): string {
  return word ? fieldsOf(word, scope).join(" ") : UNKNOWN;
}

/** Returns the text of a here-document's parts. */
export function partsText(parts: readonly WordPart[], scope: Scope): string {
  const build = new FieldBuilder(scope);
  for (const part of parts) build.add(partValue(part, scope), false);
  return build.done().join("");
}

function fieldsOfText(text: string, scope: Scope): string[] {
  const command = parse(`: ${text}`).commands[0]?.command;
  const word = command?.type === "Command" ? command.suffix[0] : undefined;
  if (word?.type !== "Word") return [text];
  const build = new FieldBuilder(scope);
  addParts(word.parts ?? [], word.value, build, scope);
  return build.done();
}

function addParts(
  parts: readonly WordPart[],
  value: string,
  build: FieldBuilder,
  scope: Scope,
): void {
  if (parts.length === 0) return build.add(value, false);
  for (const part of parts) {
    const splits = part.text === '"$@"' || part.type === "SimpleExpansion" ||
      part.type === "ParameterExpansion" ||
      part.type === "CommandExpansion";
    build.add(partValue(part, scope), splits);
  }
}

const BLANKS = /[ \t\n]+/;

/** Returns the separator of fields by the value of `IFS`; undefined: it is empty, and nothing separates. */
function fieldSeparator(value: string): RegExp | undefined {
  if (value === "") return undefined;
  if (value.includes(UNKNOWN) || /^[ \t\n]+$/.test(value)) return BLANKS;
  return new RegExp(`[${value.slice(0, 16).replace(/[\\\]^-]/g, "\\$&")}]+`);
}

/** Collects text into fields. Unquoted expansions are split at separators. */
class FieldBuilder {
  #fields: string[] = [];
  #open: string | undefined;
  readonly #apart: RegExp | undefined;

  constructor({ variables }: Scope) {
    this.#apart = fieldSeparator(variables.get("IFS") ?? UNKNOWN);
  }

  add(text: string, splits: boolean): void {
    if (!splits || !this.#apart) {
      this.#open = (this.#open ?? "") + text;
      return;
    }
    text.split(this.#apart).forEach((piece, n) => {
      if (n > 0) this.#close();
      if (piece !== "") this.#open = (this.#open ?? "") + piece;
    });
  }

  done(): string[] {
    this.#close();
    return this.#fields.slice(0, MAX_FIELDS);
  }

  #close(): void {
    if (this.#open !== undefined) this.#fields.push(this.#open);
    this.#open = undefined;
  }
}

function partValue(part: WordPart, scope: Scope): string {
  switch (part.type) {
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map((child) => partValue(child, scope)).join("");
    case "SimpleExpansion":
      return variableValue(part.text.slice(1), scope);
    case "ParameterExpansion":
      return expandParameter(part, scope);
    case "CommandExpansion":
    case "ProcessSubstitution":
      return scope.outputOf(part);
    case "ArithmeticExpansion":
      scope.evaluate(part.text.slice(3, -2));
      return evaluateArithmetic(part.text);
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Glob":
      return part.value;
    default:
      return part.text;
  }
}

function variableValue(name: string, { variables }: Scope): string {
  return variables.get(name) ?? DEFAULT_VARIABLES.get(name) ?? UNKNOWN;
}

function expandParameter(
  part: Extract<WordPart, { type: "ParameterExpansion" }>,
  scope: Scope,
): string {
  const { operation, prefix } = part;
  if (part.index) {
    scope.evaluateQuoted(wordText(part.index, scope));
    scope.evaluate(part.index.text);
  }
  const known = scope.variables.get(part.parameter) ?? DEFAULT_VARIABLES.get(part.parameter);
  if (prefix === "!") {
    if (known !== undefined) scope.evaluateQuoted(known);
    return known === undefined
      ? UNKNOWN
      : scope.variables.get(known) ?? DEFAULT_VARIABLES.get(known) ?? UNKNOWN;
  }
  if (prefix === "#") return known === undefined ? UNKNOWN : String(known.length);
  if (operation === undefined) return known ?? UNKNOWN;
  if (operation.type === "Default") {
    const other = fieldsOf(operation.operand, scope).join(" ");
    if (operation.operator.endsWith("+")) return known === undefined ? "" : other;
    return known === undefined || known === "" ? other : known;
  }
  if (operation.type === "Slice") {
    scope.evaluate(operation.offset.text);
    if (operation.length) scope.evaluate(operation.length.text);
  }
  if (operation.type === "Transform" && operation.operand.text.includes("P")) {
    if (known === undefined || known.includes(UNKNOWN)) scope.hide();
    else scope.evaluateQuoted(known);
  }
  if (known === undefined || known.includes(UNKNOWN)) return UNKNOWN;
  if (operation.type === "Slice") {
    const from = Number(operation.offset.value.trim());
    const length = operation.length ? Number(operation.length.value.trim()) : undefined;
    if (!Number.isInteger(from) || length !== undefined && !Number.isInteger(length)) {
      return UNKNOWN;
    }
    const start = from < 0 ? Math.max(known.length + from, 0) : from;
    if (length === undefined) return known.slice(start);
    return length < 0 ? known.slice(start, length) : known.slice(start, start + length);
  }
  if (operation.type === "CaseModification") {
    return operation.operator.startsWith("^") ? known.toUpperCase() : known.toLowerCase();
  }
  if (operation.type === "Replace") {
    const pattern = wordText(operation.pattern, scope);
    const replacement = wordText(operation.replacement, scope);
    if (/[*?[]/.test(pattern) || pattern === "") return UNKNOWN;
    return operation.operator === "//"
      ? known.replaceAll(pattern, replacement)
      : known.replace(pattern, replacement);
  }
  return UNKNOWN;
}

/** Evaluates `$((40 + 2))` with plain numbers; anything else is unknown. */
function evaluateArithmetic(text: string): string {
  const plain = /^\$\(\(\s*(\d{1,9})\s*([-+*])?\s*(\d{1,9})?\s*\)\)$/.exec(text);
  if (!plain) return UNKNOWN;
  const [, left, sign, right] = plain;
  if (sign === undefined || right === undefined) return left!;
  const [a, b] = [Number(left), Number(right)];
  return String(sign === "+" ? a + b : sign === "-" ? a - b : a * b);
}

/** Expands `a{b,c}d` to `abd` and `acd`, at most {@linkcode MAX_FIELDS} words. */
function expandBraces(text: string, depth = 0): string[] {
  const found = depth < 8 ? findBraces(text) : undefined;
  if (!found) return [text];
  const { before, inside, after } = found;
  const all: string[] = [];
  for (const one of inside) {
    for (const rest of expandBraces(after, depth + 1)) {
      for (const middle of expandBraces(one, depth + 1)) {
        if (all.length >= MAX_FIELDS) return all;
        all.push(before + middle + rest);
      }
    }
  }
  return all;
}

function findBraces(
  text: string,
): { before: string; inside: string[]; after: string } | undefined {
  let quote = "";
  for (let start = 0; start < text.length; start++) {
    const at = text[start]!;
    if (at === "\\") start++;
    else if (quote) quote = at === quote ? "" : quote;
    else if (at === "'" || at === '"') quote = at;
    else if (at === "{" && text[start - 1] !== "$") {
      const found = splitBraces(text, start);
      if (found) return { before: text.slice(0, start), ...found };
    }
  }
  return undefined;
}

function splitBraces(text: string, start: number): { inside: string[]; after: string } | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let n = start; n < text.length; n++) {
    const at = text[n]!;
    if (at === "\\") n++;
    else if (at === "{") depth++;
    else if (at === "," && depth === 1) commas.push(n);
    else if (at === "}" && --depth === 0) {
      if (commas.length === 0) return undefined;
      const edges = [start, ...commas, n];
      const inside = edges.slice(1).map((edge, k) => text.slice(edges[k]! + 1, edge));
      return { inside, after: text.slice(n + 1) };
    }
  }
  return undefined;
}

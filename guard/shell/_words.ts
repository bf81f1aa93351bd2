/** From words as written to the words that a program gets: variables, braces, quotes and known substitutions. */
import { parse, type Word, type WordPart } from "unbash";
import { UNKNOWN } from "./_types.ts";

/** What is known while a line is read. */
export interface Scope {
  /** Variables by name. What is not there is unset or comes from outside: {@linkcode UNKNOWN}. */
  readonly variables: Map<string, string>;
  /** What a command substitution gives, where that is known; notes what it runs. */
  outputOf(part: Extract<WordPart, { type: "CommandExpansion" | "ProcessSubstitution" }>): string;
}

/** Variables that every shell has. */
export const GIVEN: ReadonlyMap<string, string> = new Map([
  ["IFS", " "],
  ["HOME", "~"],
  ["PWD", UNKNOWN],
  ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  ["SHELL", "/bin/bash"],
  ["TMPDIR", "/tmp"],
  ["USER", UNKNOWN],
]);
const MOST_FIELDS = 64;

/** The fields that one word becomes: none (an empty variable), one, or several (braces, unquoted spaces). */
export function fieldsOf(word: Word, scope: Scope): string[] {
  const braces = word.parts?.some(({ type }) => type === "BraceExpansion");
  if (braces) {
    const written = expandBraces(word.text);
    if (written.length > 1) {
      return written.flatMap((text) => reread(text, scope)).slice(0, MOST_FIELDS);
    }
  }
  const build = new Fields(scope);
  addParts(word.parts ?? [], word.value, build, scope);
  return build.done();
}

/** The text of a word that is not split, such as the target of a redirection. */
export function textOf(word: Word | undefined, scope: Scope): string {
  return word ? fieldsOf(word, scope).join(" ") : UNKNOWN;
}

/** The text of a here-document's parts. */
export function textOfParts(parts: readonly WordPart[], scope: Scope): string {
  const build = new Fields(scope);
  for (const part of parts) build.add(valueOf(part, scope), false);
  return build.done().join("");
}

function reread(text: string, scope: Scope): string[] {
  const command = parse(`: ${text}`).commands[0]?.command;
  const word = command?.type === "Command" ? command.suffix[0] : undefined;
  if (word?.type !== "Word") return [text];
  const build = new Fields(scope);
  addParts(word.parts ?? [], word.value, build, scope);
  return build.done();
}

function addParts(parts: readonly WordPart[], value: string, build: Fields, scope: Scope): void {
  if (parts.length === 0) return build.add(value, false);
  for (const part of parts) {
    const splits = part.text === '"$@"' || part.type === "SimpleExpansion" ||
      part.type === "ParameterExpansion" ||
      part.type === "CommandExpansion";
    build.add(valueOf(part, scope), splits);
  }
}

const BLANKS = /[ \t\n]+/;

/** What parts fields by the value of `IFS`; where it is empty, nothing does. */
function separators(value: string): RegExp | undefined {
  if (value === "") return undefined;
  if (value.includes(UNKNOWN) || /^[ \t\n]+$/.test(value)) return BLANKS;
  return new RegExp(`[${value.slice(0, 16).replace(/[\\\]^-]/g, "\\$&")}]+`);
}

/** Collects text into fields; unquoted expansions part at spaces. */
class Fields {
  #fields: string[] = [];
  #open: string | undefined;
  readonly #apart: RegExp | undefined;

  constructor({ variables }: Scope) {
    this.#apart = separators(variables.get("IFS") ?? UNKNOWN);
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
    return this.#fields.slice(0, MOST_FIELDS);
  }

  #close(): void {
    if (this.#open !== undefined) this.#fields.push(this.#open);
    this.#open = undefined;
  }
}

function valueOf(part: WordPart, scope: Scope): string {
  switch (part.type) {
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map((child) => valueOf(child, scope)).join("");
    case "SimpleExpansion":
      return variable(part.text.slice(1), scope);
    case "ParameterExpansion":
      return parameter(part, scope);
    case "CommandExpansion":
    case "ProcessSubstitution":
      return scope.outputOf(part);
    case "ArithmeticExpansion":
      return arithmetic(part.text);
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Glob":
      return part.value;
    default:
      return part.text;
  }
}

function variable(name: string, { variables }: Scope): string {
  return variables.get(name) ?? GIVEN.get(name) ?? UNKNOWN;
}

function parameter(
  part: Extract<WordPart, { type: "ParameterExpansion" }>,
  scope: Scope,
): string {
  const { operation, prefix } = part;
  const known = scope.variables.get(part.parameter) ?? GIVEN.get(part.parameter);
  if (prefix === "!") {
    return known === undefined
      ? UNKNOWN
      : scope.variables.get(known) ?? GIVEN.get(known) ?? UNKNOWN;
  }
  if (prefix === "#") return known === undefined ? UNKNOWN : String(known.length);
  if (operation === undefined) return known ?? UNKNOWN;
  if (operation.type === "Default") {
    const other = fieldsOf(operation.operand, scope).join(" ");
    if (operation.operator.endsWith("+")) return known === undefined ? "" : other;
    return known === undefined || known === "" ? other : known;
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
    const pattern = textOf(operation.pattern, scope);
    const replacement = textOf(operation.replacement, scope);
    if (/[*?[]/.test(pattern) || pattern === "") return UNKNOWN;
    return operation.operator === "//"
      ? known.replaceAll(pattern, replacement)
      : known.replace(pattern, replacement);
  }
  return UNKNOWN;
}

/** `$((40 + 2))` for plain sums; anything else is not needed to know what a line does. */
function arithmetic(text: string): string {
  const plain = /^\$\(\(\s*(\d{1,9})\s*([-+*])?\s*(\d{1,9})?\s*\)\)$/.exec(text);
  if (!plain) return UNKNOWN;
  const [, left, sign, right] = plain;
  if (sign === undefined || right === undefined) return left!;
  const [a, b] = [Number(left), Number(right)];
  return String(sign === "+" ? a + b : sign === "-" ? a - b : a * b);
}

/** `a{b,c}d` as `abd` and `acd`; `{1..3}` too. At most {@linkcode MOST_FIELDS} of them. */
function expandBraces(text: string, depth = 0): string[] {
  const found = depth < 8 ? outerBraces(text) : undefined;
  if (!found) return [text];
  const { before, inside, after } = found;
  const all: string[] = [];
  for (const one of inside) {
    for (const rest of expandBraces(after, depth + 1)) {
      for (const middle of expandBraces(one, depth + 1)) {
        if (all.length >= MOST_FIELDS) return all;
        all.push(before + middle + rest);
      }
    }
  }
  return all;
}

function outerBraces(
  text: string,
): { before: string; inside: string[]; after: string } | undefined {
  let quote = "";
  for (let start = 0; start < text.length; start++) {
    const at = text[start]!;
    if (at === "\\") start++;
    else if (quote) quote = at === quote ? "" : quote;
    else if (at === "'" || at === '"') quote = at;
    else if (at === "{" && text[start - 1] !== "$") {
      const found = closing(text, start);
      if (found) return { before: text.slice(0, start), ...found };
    }
  }
  return undefined;
}

function closing(text: string, start: number): { inside: string[]; after: string } | undefined {
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

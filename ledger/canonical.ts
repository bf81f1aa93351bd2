import { InvalidInput } from "../contract/mod.ts";

/** Most levels of arrays and objects within each other. */
export const MAX_DEPTH = 64;
/** Most digits of an integer, as Python has it. */
export const MAX_DIGITS = 4300;

/** A value, or a text, has no canonical form. */
export class NotCanonical extends InvalidInput {
  /** @param why what was found, and what would be right */
  constructor(why: string) {
    super([{ path: [], msg: why, type: "not_canonical" }]);
  }
}

/**
 * The canonical JSON of a value: keys in code-point order, no spaces, non-ASCII kept; the same bytes that
 * Python's `json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False)` gives for
 * `JSON.stringify(value)`.
 *
 * @throws {NotCanonical} lone surrogates, U+0000, numbers that are not finite, too deep, or not JSON at all
 */
export function canonicalize(value: unknown): string {
  return print(value, 0);
}

function print(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return printString(value);
    case "number":
      return printNumber(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth >= MAX_DEPTH) throw new NotCanonical(`Nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value)
        ? `[${value.map((item) => print(item, depth + 1)).join(",")}]`
        : printObject(value as Record<string, unknown>, depth + 1);
    default:
      throw new NotCanonical(`A value of type ${typeof value} is not JSON`);
  }
}

function printObject(value: Record<string, unknown>, depth: number): string {
  const keys = Object.keys(value).sort(byCodePoint);
  let text = "{";
  for (const key of keys) {
    const item = value[key];
    if (item === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${printString(key)}:${print(item, depth)}`;
  }
  return text + "}";
}

function printString(value: string): string {
  if (value.includes("\0")) throw new NotCanonical("Text contains U+0000");
  if (!value.isWellFormed()) throw new NotCanonical("Text contains half of a surrogate pair");
  return JSON.stringify(value);
}

function printNumber(value: number): string {
  if (!Number.isFinite(value)) throw new NotCanonical(`${value} is not a JSON number`);
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? String(value + 0) : printDouble(value);
}

/** Python's layout of a double's shortest digits: positional from 1e-4 to below 1e16, else with exponent. */
function printDouble(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const [mantissa, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace("-", "").replace(".", "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

const SURROGATE = /[\ud800-\udfff]/;

/** Order of code points; that of JavaScript's strings is the order of UTF-16 units. */
function byCodePoint(a: string, b: string): number {
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b)); // UTF-8 sorts as code points do
}

/**
 * The canonical form of a JSON text, exactly: `1.0` and `1` stay different, and integers keep all digits.
 *
 * @throws {NotCanonical} not one JSON value, a duplicate key, or one of the reasons of {@linkcode canonicalize}
 */
export function canonicalFromText(json: string): string {
  const reader = new Reader(json);
  const text = reader.value(0);
  reader.end();
  return text;
}

/**
 * The fields of a JSON object, each with the canonical text of its value.
 *
 * @throws {NotCanonical} as {@linkcode canonicalFromText}, or where the text is no object
 */
export function canonicalFields(json: string): Map<string, string> {
  const reader = new Reader(json);
  const fields = reader.fields(0);
  reader.end();
  return fields;
}

/**
 * The items of a JSON array, each as its canonical text.
 *
 * @throws {NotCanonical} as {@linkcode canonicalFromText}, or where the text is no array
 */
export function canonicalItems(json: string): string[] {
  const reader = new Reader(json);
  const items = reader.items(0);
  reader.end();
  return items;
}

/** Puts fields, each with the canonical text of its value, together to a canonical object. */
export function joinFields(fields: Iterable<readonly [string, string]>): string {
  const sorted = [...fields].sort(([a], [b]) => byCodePoint(a, b));
  return `{${sorted.map(([key, text]) => `${printString(key)}:${text}`).join(",")}}`;
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
// deno-lint-ignore no-control-regex -- JSON's grammar forbids exactly these within a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;
const WORD = /true|false|null/y;

/** Reads a JSON text once from left to right, and gives the canonical text of what it reads. */
class Reader {
  #at = 0;
  readonly #json: string;

  constructor(json: string) {
    this.#json = json;
  }

  value(depth: number): string {
    this.#match(SPACE);
    switch (this.#json[this.#at]) {
      case "{":
        return joinFields(this.fields(depth));
      case "[":
        return `[${this.items(depth).join(",")}]`;
      case '"':
        return printString(this.#string());
      default:
        return this.#match(WORD)?.[0] ?? this.#number();
    }
  }

  fields(depth: number): Map<string, string> {
    this.#open("{", depth);
    const fields = new Map<string, string>();
    if (this.#skip("}")) return fields;
    do {
      this.#match(SPACE);
      const key = this.#string();
      if (fields.has(key)) throw new NotCanonical(`The key ${JSON.stringify(key)} is there twice`);
      if (!this.#skip(":")) this.#fail();
      fields.set(key, this.value(depth + 1));
    } while (this.#skip(","));
    if (!this.#skip("}")) this.#fail();
    return fields;
  }

  end(): void {
    this.#match(SPACE);
    if (this.#at < this.#json.length) this.#fail();
  }

  items(depth: number): string[] {
    this.#open("[", depth);
    if (this.#skip("]")) return [];
    const items: string[] = [];
    do items.push(this.value(depth + 1)); while (this.#skip(","));
    if (!this.#skip("]")) this.#fail();
    return items;
  }

  #string(): string {
    const token = this.#match(STRING) ?? this.#fail();
    return JSON.parse(token[0]);
  }

  #number(): string {
    const token = this.#match(NUMBER) ?? this.#fail();
    const [text, fraction, exponent] = token;
    if (fraction === undefined && exponent === undefined) {
      if (text.length > MAX_DIGITS + 1 || text.replace("-", "").length > MAX_DIGITS) {
        throw new NotCanonical(`An integer has more than ${MAX_DIGITS} digits`);
      }
      return text === "-0" ? "0" : text;
    }
    const value = Number(text);
    if (!Number.isFinite(value)) throw new NotCanonical(`${text} is beyond what a double can hold`);
    return printDouble(value);
  }

  #open(bracket: string, depth: number): void {
    if (depth >= MAX_DEPTH) throw new NotCanonical(`Nested deeper than ${MAX_DEPTH} levels`);
    if (!this.#skip(bracket)) this.#fail();
  }

  #skip(character: string): boolean {
    this.#match(SPACE);
    if (this.#json[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#json);
    if (match) this.#at = pattern.lastIndex;
    return match ?? undefined;
  }

  #fail(): never {
    throw new NotCanonical(`Not JSON at character ${this.#at}`);
  }
}

// Not through mod.ts: this runs in a browser too, which has no use for zod.
import { InvalidInput } from "../../contract/errors.ts";

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
        ? printArray(value, depth + 1)
        : printObject(value as Record<string, unknown>, depth + 1);
    default:
      throw new NotCanonical(`A value of type ${typeof value} is not JSON`);
  }
}

function printArray(items: readonly unknown[], depth: number): string {
  let text = "[";
  for (let n = 0; n < items.length; n++) text += (n > 0 ? "," : "") + print(items[n], depth);
  return text + "]";
}

/**
 * The fields of an object, each with the canonical text of its value; those that are undefined are left out.
 *
 * @throws {NotCanonical} as {@linkcode canonicalize}
 */
export function canonicalizeValues(value: Readonly<Record<string, unknown>>): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) fields.set(key, print(item, 1));
  }
  return fields;
}

function printObject(value: Record<string, unknown>, depth: number): string {
  const keys = sortByKey(Object.keys(value), (key) => key);
  let text = "{";
  for (const key of keys) {
    const item = value[key];
    if (item === undefined) continue;
    text += (text.length > 1 ? "," : "") + printString(key) + ":" + print(item, depth);
  }
  return text + "}";
}

// deno-lint-ignore no-control-regex -- exactly what JSON escapes, and what may be half of a pair
const NOT_VERBATIM = /["\\\u0000-\u001f\ud800-\udfff]/;

function printString(value: string): string {
  if (!NOT_VERBATIM.test(value)) return `"${value}"`;
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
const UTF_8 = new TextEncoder();

/** Order of code points; that of JavaScript's strings is the order of UTF-16 units. */
function compareCodePoints(a: string, b: string): number {
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [UTF_8.encode(a), UTF_8.encode(b)]; // UTF-8 sorts as code points do
  const differs = left.findIndex((byte, n) => byte !== right[n]);
  if (differs === -1) return left.length - right.length;
  return differs < right.length ? left[differs]! - right[differs]! : 1;
}

/** The same array, its entries in the order of their keys' code points. */
function sortByKey<T>(entries: T[], keyOf: (entry: T) => string): T[] {
  let ascending = true;
  let astral = false;
  for (let n = 0; n < entries.length; n++) {
    const key = keyOf(entries[n]!);
    if (n > 0 && keyOf(entries[n - 1]!) > key) ascending = false;
    if (!astral) astral = SURROGATE.test(key);
  }
  if (ascending && !astral) return entries; // as in whatever was canonical before
  return entries.sort((a, b) => compareCodePoints(keyOf(a), keyOf(b)));
}

/**
 * The canonical form of a JSON text, exactly: `1.0` and `1` stay different, and integers keep all digits.
 *
 * @throws {NotCanonical} not one JSON value, a duplicate key, or one of the reasons of {@linkcode canonicalize}
 */
export function canonicalizeText(json: string): string {
  const reader = new Reader(json);
  const text = reader.value(0);
  reader.end();
  return text;
}

/**
 * The fields of a JSON object, each with the canonical text of its value.
 *
 * @throws {NotCanonical} as {@linkcode canonicalizeText}, or where the text is no object
 */
export function canonicalizeFields(json: string): Map<string, string> {
  const reader = new Reader(json);
  const fields = reader.fields(0);
  reader.end();
  return new Map(fields);
}

/** As {@linkcode canonicalizeFields}, or undefined where the text is not canonical as it stands. */
export function parseCanonicalFields(json: string): Map<string, string> | undefined {
  try {
    const reader = new Reader(json);
    const fields = reader.fields(0);
    reader.end();
    return reader.deviations === 0 ? new Map(fields) : undefined;
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

/**
 * The items of a JSON array, each as its canonical text.
 *
 * @throws {NotCanonical} as {@linkcode canonicalizeText}, or where the text is no array
 */
export function canonicalizeItems(json: string): string[] {
  const reader = new Reader(json);
  const items = reader.items(0);
  reader.end();
  return items;
}

/** Puts fields, each with the canonical text of its value, together to a canonical object. */
export function joinFields(fields: Iterable<readonly [string, string]>): string {
  let text = "{";
  for (const [key, value] of sortByKey([...fields], ([key]) => key)) {
    text += (text.length > 1 ? "," : "") + printString(key) + ":" + value;
  }
  return text + "}";
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const FRACTION = /[.eE]/;
// deno-lint-ignore no-control-regex -- JSON's grammar forbids exactly these within a string
const NOT_PLAIN = /["\\\u0000-\u001f]/g;
/** Strings up to this length are looked through one character after the other. */
const SHORT = 32;
const WORDS = ["true", "false", "null"];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Reads a JSON text once from left to right, and gives the canonical text of what it reads: a piece of the text itself
 * wherever that is canonical as it stands.
 */
class Reader {
  #at = 0;
  /** How often the text was other than its canonical form so far. */
  deviations = 0;
  readonly #json: string;
  readonly #astral: boolean;

  constructor(json: string) {
    if (!json.isWellFormed()) throw new NotCanonical("Text contains half of a surrogate pair");
    this.#json = json;
    this.#astral = SURROGATE.test(json);
  }

  value(depth: number): string {
    const code = this.#next();
    if (code === QUOTE) return this.#string();
    const [start, before] = [this.#at, this.deviations];
    const asItStands = () =>
      this.deviations === before ? this.#json.slice(start, this.#at) : undefined;
    if (code === BRACE) {
      const fields = this.fields(depth);
      return asItStands() ?? joinFields(fields);
    }
    if (code === BRACKET) {
      const items = this.items(depth);
      return asItStands() ?? `[${items.join(",")}]`;
    }
    return this.#word() ?? this.#number();
  }

  /** The fields of an object, as they come. */
  fields(depth: number): [string, string][] {
    this.#open(BRACE, depth);
    const fields: [string, string][] = [];
    if (this.#skip(BRACE_END)) return fields;
    let ascending = !this.#astral;
    let last: string | undefined;
    do {
      const key = this.#key();
      if (last !== undefined && last >= key) ascending = false;
      fields.push([key, this.value(depth + 1)]);
      last = key;
    } while (this.#skip(COMMA));
    if (!this.#skip(BRACE_END)) this.#fail();
    if (!ascending) this.#unordered(fields);
    return fields;
  }

  items(depth: number): string[] {
    this.#open(BRACKET, depth);
    if (this.#skip(BRACKET_END)) return [];
    const items: string[] = [];
    do items.push(this.value(depth + 1)); while (this.#skip(COMMA));
    if (!this.#skip(BRACKET_END)) this.#fail();
    return items;
  }

  end(): void {
    this.#next();
    if (this.#at < this.#json.length) this.#fail();
  }

  #key(): string {
    if (this.#next() !== QUOTE) this.#fail();
    const text = this.#string();
    if (!this.#skip(COLON)) this.#fail();
    return text.includes("\\") ? JSON.parse(text) : text.slice(1, -1);
  }

  #unordered(fields: readonly [string, string][]): void {
    this.deviations++;
    const keys = new Set<string>();
    for (const [key] of fields) {
      if (keys.has(key)) throw new NotCanonical(`The key ${JSON.stringify(key)} is there twice`);
      keys.add(key);
    }
  }

  /** What has no escape is canonical as it stands: the whole text is known to be well-formed. */
  #string(): string {
    const start = this.#at;
    let end = this.#plain(start + 1);
    const verbatim = this.#json.charCodeAt(end) === QUOTE;
    while (this.#json.charCodeAt(end) === BACKSLASH) end = this.#plain(end + 2);
    if (this.#json.charCodeAt(end) !== QUOTE) this.#fail();
    this.#at = end + 1;
    const token = this.#json.slice(start, this.#at);
    return verbatim ? token : this.#kept(token, printString(parseString(token, start)));
  }

  /** Where the run of plain characters ends that begins here: a short one found by looking, a long one by matching. */
  #plain(start: number): number {
    for (let at = start; at < start + SHORT; at++) {
      const code = this.#json.charCodeAt(at);
      if (!(code >= 0x20) || code === QUOTE || code === BACKSLASH) return at;
    }
    NOT_PLAIN.lastIndex = start + SHORT;
    return NOT_PLAIN.test(this.#json) ? NOT_PLAIN.lastIndex - 1 : this.#json.length;
  }

  #word(): string | undefined {
    const word = WORDS.find((word) => this.#json.startsWith(word, this.#at));
    if (word) this.#at += word.length;
    return word;
  }

  #number(): string {
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#json)) this.#fail();
    const text = this.#json.slice(this.#at, NUMBER.lastIndex);
    this.#at = NUMBER.lastIndex;
    if (!FRACTION.test(text)) {
      if (text.length > MAX_DIGITS && text.replace("-", "").length > MAX_DIGITS) {
        throw new NotCanonical(`An integer has more than ${MAX_DIGITS} digits`);
      }
      return text === "-0" ? this.#kept(text, "0") : text;
    }
    const value = Number(text);
    if (!Number.isFinite(value)) throw new NotCanonical(`${text} is beyond what a double can hold`);
    return this.#kept(text, printDouble(value));
  }

  #kept(token: string, canonical: string): string {
    if (token !== canonical) this.deviations++;
    return canonical;
  }

  #open(bracket: number, depth: number): void {
    if (depth >= MAX_DEPTH) throw new NotCanonical(`Nested deeper than ${MAX_DEPTH} levels`);
    if (!this.#skip(bracket)) this.#fail();
  }

  /** The next character that is no space, as its code; NaN at the end. */
  #next(): number {
    let code = this.#json.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.deviations++;
      code = this.#json.charCodeAt(++this.#at);
    }
    return code;
  }

  #skip(character: number): boolean {
    if (this.#next() !== character) return false;
    this.#at++;
    return true;
  }

  #fail(): never {
    throw notJson(this.#at);
  }
}

/** The value of a string token; its escapes are looked at here. */
function parseString(token: string, at: number): string {
  try {
    return JSON.parse(token);
  } catch {
    throw notJson(at);
  }
}

const notJson = (at: number) => new NotCanonical(`Not JSON at character ${at}`);

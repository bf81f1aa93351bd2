import {
  joinFields,
  MAX_DEPTH,
  NotCanonical,
  printDouble,
  printString,
  SURROGATE,
} from "./canonical.ts";

/**
 * Returns the canonical form of a JSON text, exactly: `1.0` and `1` stay different, and integers keep all digits.
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
 * Returns the fields of a JSON object, each with the canonical text of its value.
 *
 * @throws {NotCanonical} as {@linkcode canonicalizeText}, or where the text is no object
 */
export function canonicalizeFields(json: string): Map<string, string> {
  const reader = new Reader(json);
  const fields = reader.fields(0);
  reader.end();
  return new Map(fields);
}

/** Returns the fields of a canonical object as {@linkcode canonicalizeFields} does; undefined for any other text. */
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
 * Returns the items of a JSON array, each as its canonical text.
 *
 * @throws {NotCanonical} as {@linkcode canonicalizeText}, or where the text is no array
 */
export function canonicalizeItems(json: string): string[] {
  const reader = new Reader(json);
  const items = reader.items(0);
  reader.end();
  return items;
}

/** Digits of an integer, as Python limits them. */
const MAX_DIGITS = 4300;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const FRACTION = /[.eE]/;
// deno-lint-ignore no-control-regex -- JSON's grammar forbids exactly these within a string
const NOT_PLAIN = /["\\\u0000-\u001f]/g;
/** Characters of a string that are scanned one by one before a regular expression takes over. */
const SCAN_LENGTH = 32;
const WORDS = ["true", "false", "null"];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Reads a JSON text once from left to right, and returns the canonical text of its values: a slice of the text itself
 * wherever that is already canonical.
 */
class Reader {
  #at = 0;
  /** Number of places at which the text differs from its canonical form, so far. */
  deviations = 0;
  readonly #json: string;
  readonly #hasSurrogates: boolean;

  constructor(json: string) {
    if (!json.isWellFormed()) throw new NotCanonical("Text contains half of a surrogate pair");
    this.#json = json;
    this.#hasSurrogates = SURROGATE.test(json);
  }

  value(depth: number): string {
    const code = this.#next();
    if (code === QUOTE) return this.#string();
    const [start, before] = [this.#at, this.deviations];
    const sliceIfCanonical = () =>
      this.deviations === before ? this.#json.slice(start, this.#at) : undefined;
    if (code === BRACE) {
      const fields = this.fields(depth);
      return sliceIfCanonical() ?? joinFields(fields);
    }
    if (code === BRACKET) {
      const items = this.items(depth);
      return sliceIfCanonical() ?? `[${items.join(",")}]`;
    }
    return this.#word() ?? this.#number();
  }

  /** Reads the fields of an object, in the order of the text. */
  fields(depth: number): [string, string][] {
    this.#open(BRACE, depth);
    const fields: [string, string][] = [];
    if (this.#skip(BRACE_END)) return fields;
    let isAscending = !this.#hasSurrogates;
    let last: string | undefined;
    do {
      const key = this.#key();
      if (last !== undefined && last >= key) isAscending = false;
      fields.push([key, this.value(depth + 1)]);
      last = key;
    } while (this.#skip(COMMA));
    if (!this.#skip(BRACE_END)) this.#fail();
    if (!isAscending) {
      this.deviations++;
      rejectDuplicates(fields);
    }
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

  /** Reads a string. One without escapes is already canonical, as the whole text is well-formed. */
  #string(): string {
    const start = this.#at;
    let end = this.#endOfPlain(start + 1);
    const verbatim = this.#json.charCodeAt(end) === QUOTE;
    while (this.#json.charCodeAt(end) === BACKSLASH) end = this.#endOfPlain(end + 2);
    if (this.#json.charCodeAt(end) !== QUOTE) this.#fail();
    this.#at = end + 1;
    const token = this.#json.slice(start, this.#at);
    return verbatim ? token : this.#canonical(token, printString(parseString(token, start)));
  }

  /** Returns the position of the next quote, backslash or control character, or the length of the text. */
  #endOfPlain(start: number): number {
    for (let at = start; at < start + SCAN_LENGTH; at++) {
      const code = this.#json.charCodeAt(at);
      if (!(code >= 0x20) || code === QUOTE || code === BACKSLASH) return at;
    }
    NOT_PLAIN.lastIndex = start + SCAN_LENGTH;
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
      return text === "-0" ? this.#canonical(text, "0") : text;
    }
    const value = Number(text);
    if (!Number.isFinite(value)) throw new NotCanonical(`${text} is beyond what a double can hold`);
    return this.#canonical(text, printDouble(value));
  }

  #canonical(token: string, canonical: string): string {
    if (token !== canonical) this.deviations++;
    return canonical;
  }

  #open(bracket: number, depth: number): void {
    if (depth >= MAX_DEPTH) throw new NotCanonical(`Nested deeper than ${MAX_DEPTH} levels`);
    if (!this.#skip(bracket)) this.#fail();
  }

  /** Returns the code of the next character that is no space; NaN at the end. */
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

function rejectDuplicates(fields: readonly [string, string][]): void {
  const keys = new Set<string>();
  for (const [key] of fields) {
    if (keys.has(key)) throw new NotCanonical(`The key ${JSON.stringify(key)} is there twice`);
    keys.add(key);
  }
}

/** Returns the value of a string token. */
function parseString(token: string, at: number): string {
  try {
    return JSON.parse(token);
  } catch {
    throw notJson(at);
  }
}

const notJson = (at: number) => new NotCanonical(`Not JSON at character ${at}`);

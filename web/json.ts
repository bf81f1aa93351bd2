/** Maximum nesting of a body. The ledger seals up to 64 levels, and an envelope needs some more. */
const MAX_DEPTH = 100;

const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a;
const OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d, OPEN_ARRAY = 0x5b, CLOSE_ARRAY = 0x5d;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
// deno-lint-ignore no-control-regex -- JSON's grammar forbids exactly these within a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** A text is no JSON, or JSON that two parsers may read differently. */
export class MalformedJson extends Error {
  override readonly name = "MalformedJson";
  /** @param offset index of the first wrong character, ≥ 0 */
  constructor(readonly offset: number, reason: string) {
    super(reason);
  }
}

/**
 * Parses JSON as strictly as RFC 8259 §4 recommends: every name of an object only once, and never `__proto__`.
 *
 * `JSON.parse` silently takes the last of two equal names, so a proxy or a policy may have checked another value than
 * the one that is used. It also does not tell where a text is malformed.
 *
 * @throws {MalformedJson} with the offset of the first fault
 */
export function parseJson(text: string): unknown {
  inspect(text);
  return JSON.parse(text);
}

/** Walks the text without building values. A frame is the names of an open object, or null for an array. */
function inspect(text: string): void {
  const frames: (Set<string> | null)[] = [];
  let at = space(text, 0);
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (frames.length === MAX_DEPTH) {
        throw new MalformedJson(at, `nested deeper than ${MAX_DEPTH} levels`);
      }
      const names = code === OPEN_OBJECT ? new Set<string>() : null;
      frames.push(names);
      at = space(text, at + 1);
      if (text.charCodeAt(at) !== (names ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (names) at = name(text, at, names);
        continue;
      }
    } else {
      at = scalar(text, at, code);
    }
    at = close(text, at, frames);
    if (at === text.length) return;
  }
}

/** From the end of a value, over every bracket that closes here, to the start of the next value or the end. */
function close(text: string, from: number, frames: (Set<string> | null)[]): number {
  for (let at = space(text, from);; at = space(text, at + 1)) {
    const names = frames.at(-1);
    if (names === undefined) {
      if (at < text.length) throw new MalformedJson(at, "expected nothing after the value");
      return at;
    }
    const code = text.charCodeAt(at);
    if (code === COMMA) {
      const next = space(text, at + 1);
      return names ? name(text, next, names) : next;
    }
    if (code !== (names ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      throw new MalformedJson(at, names ? "expected , or }" : "expected , or ]");
    }
    frames.pop();
  }
}

/** Over a name and its colon, to the start of its value. */
function name(text: string, at: number, names: Set<string>): number {
  if (text.charCodeAt(at) !== QUOTE) throw new MalformedJson(at, "expected a name in quotes");
  const end = string(text, at);
  const spelt = text.slice(at, end);
  const found: string = spelt.includes("\\") ? JSON.parse(spelt) : spelt.slice(1, -1);
  if (names.has(found)) throw new MalformedJson(at, "this name stands twice in the same object");
  if (found === "__proto__") throw new MalformedJson(at, "the name __proto__ is not accepted");
  names.add(found);
  const colon = space(text, end);
  if (text.charCodeAt(colon) !== COLON) throw new MalformedJson(colon, "expected :");
  return space(text, colon + 1);
}

function scalar(text: string, at: number, code: number): number {
  if (code === QUOTE) return string(text, at);
  for (const pattern of [NUMBER, WORD]) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return pattern.lastIndex;
  }
  throw new MalformedJson(at, "expected a value");
}

/** To the end of the string that starts at `at`. Plain ones are by far the most, and are skipped by search alone. */
function string(text: string, at: number): number {
  STRING.lastIndex = at;
  if (!STRING.test(text)) throw new MalformedJson(at, "malformed string");
  return STRING.lastIndex;
}

function space(text: string, from: number): number {
  let at = from;
  for (;; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

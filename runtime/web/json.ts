/** Maximum nesting of a body. The ledger seals up to 64 levels, and an envelope needs some more. */
const MAX_DEPTH = 100;

const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a;
const OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d, OPEN_ARRAY = 0x5b, CLOSE_ARRAY = 0x5d;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
// deno-lint-ignore no-control-regex -- JSON's grammar forbids exactly these within a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** A text is not JSON, or JSON that two parsers may read differently. */
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
  validate(text);
  return JSON.parse(text);
}

/** The names of an open object, or null for an open array. */
type Frame = Set<string> | null;

/** Walks the text without building values. */
function validate(text: string): void {
  const frames: Frame[] = [];
  let at = skipSpace(text, 0);
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (frames.length === MAX_DEPTH) {
        throw new MalformedJson(at, `nested deeper than ${MAX_DEPTH} levels`);
      }
      const names = code === OPEN_OBJECT ? new Set<string>() : null;
      frames.push(names);
      at = skipSpace(text, at + 1);
      if (text.charCodeAt(at) !== (names ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (names) at = readName(text, at, names);
        continue;
      }
    } else {
      at = skipScalar(text, at, code);
    }
    at = closeFrames(text, at, frames);
    if (at === text.length) return;
  }
}

/** Skips all brackets that close after a value. @returns the position of the next value, or the end of the text */
function closeFrames(text: string, from: number, frames: Frame[]): number {
  for (let at = skipSpace(text, from);; at = skipSpace(text, at + 1)) {
    const names = frames.at(-1);
    if (names === undefined) {
      if (at < text.length) throw new MalformedJson(at, "expected nothing after the value");
      return at;
    }
    const code = text.charCodeAt(at);
    if (code === COMMA) {
      const next = skipSpace(text, at + 1);
      return names ? readName(text, next, names) : next;
    }
    if (code !== (names ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      throw new MalformedJson(at, names ? "expected , or }" : "expected , or ]");
    }
    frames.pop();
  }
}

/** Reads a name and its colon, and adds the name to those of its object. @returns the position of its value */
function readName(text: string, at: number, names: Set<string>): number {
  if (text.charCodeAt(at) !== QUOTE) throw new MalformedJson(at, "expected a name in quotes");
  const end = skipString(text, at);
  const token = text.slice(at, end);
  const value: string = token.includes("\\") ? JSON.parse(token) : token.slice(1, -1);
  if (names.has(value)) throw new MalformedJson(at, "this name stands twice in the same object");
  if (value === "__proto__") throw new MalformedJson(at, "the name __proto__ is not accepted");
  names.add(value);
  const colon = skipSpace(text, end);
  if (text.charCodeAt(colon) !== COLON) throw new MalformedJson(colon, "expected :");
  return skipSpace(text, colon + 1);
}

function skipScalar(text: string, at: number, code: number): number {
  if (code === QUOTE) return skipString(text, at);
  for (const pattern of [NUMBER, WORD]) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return pattern.lastIndex;
  }
  throw new MalformedJson(at, "expected a value");
}

function skipString(text: string, at: number): number {
  STRING.lastIndex = at;
  if (!STRING.test(text)) throw new MalformedJson(at, "malformed string");
  return STRING.lastIndex;
}

function skipSpace(text: string, from: number): number {
  for (let at = from;; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

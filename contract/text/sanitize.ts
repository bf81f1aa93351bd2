import { KEY_PREFIX } from "../domain/mod.ts";

const SECRET = new RegExp(`whsec_[A-Za-z0-9+/=_-]+|${KEY_PREFIX}_[a-z]+_[A-Za-z0-9_-]{16,}`, "g");

/** Escape sequences of terminals. */
const ESCAPES = new RegExp(
  "\u001b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?|.)?",
  "g",
);

/** Ranges of invisible characters: single code points, or the first and the last one. */
const INVISIBLE_RANGES: readonly (readonly [number, number?])[] = [
  [0x0000, 0x0008], // control characters, except tabulator (U+0009) and line feed (U+000A)
  [0x000b, 0x001f],
  [0x007f, 0x009f],
  [0x00ad], // soft hyphen
  [0x034f], // combining grapheme joiner
  [0x061c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5], // Khmer inherent vowels
  [0x180b, 0x180f], // Mongolian variation selectors
  [0x200b, 0x200f], // zero width characters and bidirectional marks
  [0x2028, 0x202e], // line separators, bidirectional embeddings and overrides
  [0x2060, 0x206f], // word joiner, invisible operators, bidirectional isolates
  [0x2800], // Braille blank
  [0x3164], // Hangul filler
  [0xfe00, 0xfe0e], // variation selectors; the emoji one, U+FE0F, only where another follows (below)
  [0xfeff], // byte order mark
  [0xffa0], // half-width Hangul filler
  [0xfff0, 0xfffb], // interlinear annotations
  [0x1d173, 0x1d17a], // musical formatting
  [0xe0000, 0xe0fff], // tags and further variation selectors
  [0xf0000, 0x10ffff], // private use, which fonts leave out
];

const INVISIBLE = invisibleExpression();

function invisibleExpression(): RegExp {
  const escape = (code: number) => `\\u{${code.toString(16)}}`;
  const ranges = INVISIBLE_RANGES.map(([first, last = first]) =>
    `${escape(first)}-${escape(last)}`
  );
  return new RegExp(`[${ranges.join("")}]|\\uFE0F(?=[\\uFE00-\\uFE0F])`, "gu");
}

/** Returns a copy with keys and webhook secrets replaced by `[secret]`. */
export function redactSecrets<T>(value: T): T {
  if (typeof value === "string") return value.replace(SECRET, "[secret]") as T;
  if (Array.isArray(value)) return value.map(redactSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, redactSecrets(inner)]),
  ) as T;
}

/** Removes invisible characters and terminal escape sequences from a text; line ends become `\n`. */
export function stripInvisible(text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n").replace(ESCAPES, "")
    .replace(INVISIBLE, "");
}

/** Returns a copy in which invisible characters are spelled out, as in `⟨U+202E⟩`, for people who decide on it. */
export function escapeInvisible<T>(value: T): T {
  return escapeIn(value) as T;
}

/** Returns a text as one line, with invisible characters spelled out: it can't pass for several, or steer a terminal. */
export function toLine(text: string): string {
  return escapeInvisible(text.replace(/[\s\u0085]+/g, " ").trim());
}

function escapeIn(value: unknown): unknown {
  if (typeof value === "string") {
    return value.replace(INVISIBLE, (character) => `⟨U+${toHex(character)}⟩`);
  }
  if (Array.isArray(value)) return value.map(escapeIn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [escapeIn(name), escapeIn(inner)]),
  );
}

const toHex = (character: string) =>
  character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");

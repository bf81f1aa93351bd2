/** Decodes texts: encodings within encodings, within limits. */
import { unpack } from "../_unpack.ts";
import {
  decodeSelectors,
  foldDigits,
  foldLookalikes,
  joinSpacedLetters,
  removeHidden,
} from "./_hidden.ts";

/** One reading of a text. */
export interface View {
  readonly text: string;
  /** The decodings that led to it, outermost first; empty for the text as it is written. */
  readonly by: readonly string[];
}

const FOREIGN = /[\u0080-\u{10FFFF}]/u;
const FOREIGN_ALL = new RegExp(FOREIGN, "gu");
/** A reversed or rot13 text matters only if it has one of these. */
const KEYWORDS =
  "prompt|approv|guardrail|disregard|ignore|override|bypass|system:|rm -|curl |anweisung|genehmig|instruc|talimat|policy|restrict";
/** Decodings of whole texts, each with the encoded form of {@linkcode KEYWORDS}. */
const TURNS = ([["rot13", rot13], ["reversed", reversed]] as const).map(([way, turn]) => ({
  way,
  turn,
  keywords: new RegExp(KEYWORDS.split("|").map(turn).join("|"), "i"),
}));
/** Encodings within encodings that are read. */
export const MAX_DECODINGS = 5;
const MAX_VIEWS = 40;
/** Longest reading, and the sum of all readings, in UTF-16 units. */
const MAX_VIEW_LENGTH = 24_000;
const MAX_TOTAL_LENGTH = 120_000;
const MIN_LENGTH = 4;

/** Returns every reading of a text; the first is the text itself. */
export function decodeViews(text: string): View[] {
  const views: View[] = [];
  const known = new Set<string>();
  let budget = MAX_TOTAL_LENGTH;
  const add = (one: string, by: readonly string[]): void => {
    const reading = one.slice(0, MAX_VIEW_LENGTH);
    if (
      views.length >= MAX_VIEWS || budget < reading.length || reading.trim().length < MIN_LENGTH ||
      known.has(reading)
    ) return;
    known.add(reading);
    budget -= reading.length;
    views.push({ text: reading, by });
    if (by.length < MAX_DECODINGS) {
      for (const [decoding, next] of decodeOnce(reading, by.length)) add(next, [...by, decoding]);
    }
  };
  add(text, []);
  return views;
}

function* decodeOnce(text: string, depth: number): Generator<[string, string]> {
  const visible = removeHidden(text);
  if (visible !== text) yield ["hidden characters", visible];
  const selectors = decodeSelectors(text);
  if (isReadable(selectors)) yield ["variation selectors", selectors];
  if (FOREIGN.test(visible)) {
    const plain = foldLookalikes(visible);
    if (plain !== visible) yield ["lookalike letters", plain];
  }
  yield* decodeEscapes(visible);
  yield* decodeBlocks(visible);
  const joined = joinSpacedLetters(visible);
  if (joined !== visible) yield ["spaced letters", joined];
  if (depth < 2) {
    if (/[a-z][013457@$]|[013457@$][a-z]/i.test(visible)) {
      yield ["digits for letters", foldDigits(visible)];
    }
    if (/[a-z]{4}/i.test(visible)) {
      for (const { way, turn, keywords } of TURNS) {
        if (keywords.test(visible)) yield [way, turn(visible)];
      }
    }
  }
}

function* decodeEscapes(text: string): Generator<[string, string]> {
  if (/%[0-9a-fA-F]{2}/.test(text)) {
    const plain = text.replace(/\+/g, " ").replace(
      /(?:%[0-9a-fA-F]{2})+/g,
      (run) => bytesOf(run.replaceAll("%", "")).toString("utf8"),
    );
    if (plain !== text) yield ["URL", plain];
  }
  if (/&(#\d{2,6}|#x[0-9a-fA-F]{2,6}|\w{2,8});/.test(text)) {
    yield ["HTML entities", decodeEntities(text)];
  }
  if (/\\(u\{?[0-9a-fA-F]{2,6}|x[0-9a-fA-F]{2}|[0-7]{3})/.test(text)) {
    yield [
      "escapes",
      text.replace(
        /\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\([0-7]{3})/g,
        (_, braced, unicode, hex, octal) =>
          char(octal ? parseInt(octal, 8) : parseInt(braced ?? unicode ?? hex, 16)),
      ),
    ];
  }
  if (/(?:=[0-9A-F]{2}){4}/.test(text)) {
    yield [
      "quoted-printable",
      text.replace(
        /(?:=[0-9A-F]{2})+/g,
        (run) => bytesOf(run.replaceAll("=", "")).toString("utf8"),
      ),
    ];
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: " ",
  newline: "\n",
  tab: "\t",
  colon: ":",
  sol: "/",
  lpar: "(",
  rpar: ")",
  period: ".",
  comma: ",",
  excl: "!",
};

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{2,6})|#x([0-9a-fA-F]{2,6})|(\w{2,8}));/g,
    (entity, decimal, hex, name) =>
      name === undefined
        ? char(decimal ? Number(decimal) : parseInt(hex, 16))
        : ENTITIES[name.toLowerCase()] ?? entity,
  );
}

/** Decodes parts of a text that are nothing but an encoding: base64, hex, base32, binary, character codes, Morse. */
function* decodeBlocks(text: string): Generator<[string, string]> {
  for (
    const [run] of text.matchAll(/[A-Za-z0-9+/_-]{16,}(?:[\r\n]+[A-Za-z0-9+/_-]{16,}){0,60}={0,2}/g)
  ) {
    const compact = run.replace(/\s+/g, "");
    if (/^[0-9a-fA-F]+$/.test(compact)) continue;
    const bytes = unpack(Buffer.from(compact, "base64"));
    const plain = readableText(bytes);
    if (plain !== undefined) yield ["base64", plain];
    if (/^[A-Z2-7]{16,}=*$/.test(compact)) {
      const from32 = readableText(base32(compact));
      if (from32 !== undefined) yield ["base32", from32];
    }
  }
  for (
    const [run] of text.matchAll(/(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-fA-F]{2}[ :,-]?(?:0x)?){8,}/g)
  ) {
    const plain = readableText(unpack(bytesOf(run.replace(/0x|[^0-9a-fA-F]/g, ""))));
    if (plain !== undefined) yield ["hex", plain];
  }
  for (const [run] of text.matchAll(/(?:[01]{8}\s?){4,}/g)) {
    yield [
      "binary",
      run.replace(/\s/g, "").replace(/[01]{8}/g, (bits) => String.fromCharCode(parseInt(bits, 2))),
    ];
  }
  for (const [run] of text.matchAll(/(?:\b\d{2,3}\b[ ,;]{1,2}){7,}\d{2,3}/g)) {
    const plain = readableText(
      Buffer.from(run.split(/[^\d]+/).map(Number).filter((code) => code < 256)),
    );
    if (plain !== undefined) yield ["character codes", plain];
  }
  for (const [run] of text.matchAll(/(?:[.-]{1,5}[ /]{1,3}){8,}[.-]{1,5}/g)) {
    yield ["Morse", morse(run)];
  }
}

/** Returns bytes as text, UTF-8 or UTF-16; undefined: they are no text. */
function readableText(bytes: Buffer): string | undefined {
  const plain = bytes.toString("utf8");
  if (isReadable(plain)) return plain;
  if (bytes.length % 2 === 0 && bytes.length > 7) {
    const wide = bytes.toString("utf16le");
    if (isReadable(wide)) return wide;
  }
  return undefined;
}

/** Tells whether decoded bytes were text: they have hardly anything but letters, digits and marks. */
function isReadable(text: string): boolean {
  if (text.length < 6 || text.includes("�")) return false;
  if (text.length >= 16 && /^[0-9a-fA-F%\s]+$/.test(text)) return true;
  const odd = text.match(/[^\p{L}\p{N}\p{P}\p{S}\s]/gu)?.length ?? 0;
  const foreign = text.match(FOREIGN_ALL)?.length ?? 0;
  const letters = text.match(/[\p{L}\s]/gu)?.length ?? 0;
  return odd / text.length < 0.03 && (foreign / text.length < 0.3 || letters / text.length > 0.9) &&
    letters / text.length > 0.5;
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.length % 2 === 0 ? hex : hex.slice(0, -1), "hex");
}

function char(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : " ";
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode((letter.charCodeAt(0) - base + 13) % 26 + base);
  });
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}

function base32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text.replace(/=+$/, "").slice(0, 8_000)) {
    value = (value << 5 | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter)) & 0xffff;
    bits += 5;
    if (bits >= 8) bytes.push(value >> (bits -= 8) & 0xff);
  }
  return Buffer.from(bytes);
}

const MORSE = new Map(
  "a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t- u..- v...- w.-- x-..- y-.-- z--.."
    .split(" ").map((one) => [one.slice(1), one[0]!]),
);

function morse(text: string): string {
  return text.split(/\s*\/\s*|\s{3,}/).map((word) =>
    word.split(/\s+/).map((code) => MORSE.get(code) ?? "").join("")
  ).join(" ");
}

/**
 * Texts of mail, whose labels are often missing or wrong.
 *
 * @see WHATWG Encoding Standard, 4.2 Names and labels
 */

/** Encodings whose texts are ASCII as well, so that nothing but the label tells them. */
const SEVEN_BIT = new Set(["iso-2022-jp"]);
const EAST_ASIAN = new Set(["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"]);
/** Names that programs write and the standard does not list: the pattern, and the label. */
const OTHER_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(?:x-)?(?:cp|win|windows|ms|ibm)[-_ ]?(125\d|874)$/, "windows-$1"],
  [/^(?:x-)?(?:cp|win|windows|ms)[-_ ]?936$/, "gbk"],
  [/^(?:x-)?(?:cp|win|windows|ms)[-_ ]?950$/, "big5"],
  [/^(?:x-)?(?:cp|win|windows|ms)[-_ ]?932$/, "shift_jis"],
  [/^(?:x-)?(?:cp|win|windows|ms)[-_ ]?949$/, "euc-kr"],
  [/^(?:x-)?cp[-_ ]?866$/, "ibm866"],
  [/^(?:x-)?(?:cp|win|windows)[-_ ]?(?:65001)$/, "utf-8"],
  [/^(?:x-)?iso[-_ ]?8859[-_ ]?(\d{1,2})(?:[-_][ei])?$/, "iso-8859-$1"],
  [/^(?:x-)?latin[-_ ]?([1-6])$/, "latin$1"],
  [/^(?:x-)?latin[-_ ]?9$/, "iso-8859-15"],
  [/^(?:x-)?koi[-_ ]?8[-_ ]?(r|u)$/, "koi8-$1"],
  [/^(?:x-)?utf[-_ ]?8(?:[-_ ].*)?$/, "utf-8"],
  [/^(?:x-)?utf[-_ ]?16[-_ ]?(le|be)?$/, "utf-16$1"],
  [/^(?:x-)?gb[-_ ]?(?:2312|k)(?:[-_ ].*)?$/, "gbk"],
  [/^(?:x-)?gb[-_ ]?18030(?:[-_ ].*)?$/, "gb18030"],
  [/^(?:x-)?(?:s|shift)[-_ ]?jis(?:[-_ ].*)?$/, "shift_jis"],
  [/^(?:x-)?euc[-_ ]?(jp|kr)(?:[-_ ].*)?$/, "euc-$1"],
  [/^(?:x-)?iso[-_ ]?2022[-_ ]?jp(?:[-_ ].*)?$/, "iso-2022-jp"],
  [/^(?:x-)?mac(?:intosh|[-_ ]?roman)$/, "macintosh"],
];
const FALLBACK = "windows-1252";
const NUL = 0, ESCAPE = 0x1b;
/** Share of a text's characters that may be unreadable before another encoding is taken. */
const MAX_UNREADABLE = 0.01;

/**
 * Decodes a text: by its byte order mark, as UTF-8 where it is that, by its label, and else as Windows-1252, in which
 * every byte is a character.
 *
 * @param label as the mail has it; undefined: it has none
 */
export function decodeText(bytes: Uint8Array, label: string | undefined): string {
  const marked = decodeMarked(bytes);
  if (marked !== undefined) return marked;
  const named = encodingOf(label);
  const escaped = decodeEscaped(bytes, named);
  if (escaped !== undefined) return escaped;
  const wide = decodeWide(bytes, named);
  if (wide !== undefined) return wide;
  const utf8 = decode(bytes, "utf-8");
  const east = named && EAST_ASIAN.has(named) ? decode(bytes, named) : undefined;
  if (utf8 !== undefined && !(east !== undefined && isByChance(utf8))) return utf8;
  if (named === undefined || named === "utf-8") return decodeDamaged(bytes) ?? fallBack(bytes);
  return decode(bytes, named) ?? decodeMostly(bytes, named) ?? fallBack(bytes);
}

/** Returns the name of an encoding, or undefined: nobody knows its label. */
function encodingOf(label: string | undefined): string | undefined {
  const plain = (label ?? "").replace(/["'<>\s]/g, "").toLowerCase().split("*")[0]!;
  const [pattern, name] = OTHER_NAMES.find(([pattern]) => pattern.test(plain)) ?? [];
  for (const one of [plain, ...(pattern ? [plain.replace(pattern, name!)] : [])]) {
    try {
      const { encoding } = new TextDecoder(one);
      // Its letters have no meaning.
      return encoding === "x-user-defined" ? undefined : encoding;
    } catch {
      // It has no such label.
    }
  }
  return undefined;
}

function decodeMarked(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return decode(bytes, "utf-8");
  if (a === 0xff && b === 0xfe) return decode(bytes, "utf-16le");
  if (a === 0xfe && b === 0xff) return decode(bytes, "utf-16be");
  return undefined;
}

/** Decodes a text of seven bits with escapes, also where its label is missing. */
function decodeEscaped(bytes: Uint8Array, named: string | undefined): string | undefined {
  if (!bytes.includes(ESCAPE)) return undefined;
  if (named !== undefined && !SEVEN_BIT.has(named) && named !== "utf-8" && named !== FALLBACK) {
    return undefined;
  }
  return decode(bytes, "iso-2022-jp");
}

/** Decodes a text of two bytes a character. Its zero bytes tell which of them comes first: labels often don't. */
function decodeWide(bytes: Uint8Array, named: string | undefined): string | undefined {
  const zeros = [0, 0];
  for (const [at, byte] of bytes.entries()) if (byte === NUL) zeros[at % 2]!++;
  const isNamed = named?.startsWith("utf-16") ?? false;
  const [first, second] = zeros as [number, number];
  if (isNamed && first === second) {
    return first > 0 || decode(bytes, "utf-8") === undefined ? decode(bytes, named!) : undefined;
  }
  if (!isNamed && Math.max(first, second) < bytes.length / 4) return undefined;
  return decode(bytes, first > second ? "utf-16be" : "utf-16le");
}

/** Returns whether a text may be UTF-8 by chance: two-byte letters alone, as those of a short East Asian text look. */
function isByChance(utf8: string): boolean {
  return /[\u0080-\u07ff]/.test(utf8) && !/[a-z\u0800-\uffff]/i.test(utf8);
}

/** Decodes UTF-8 of which a few bytes are broken. @returns undefined: it is none */
function decodeDamaged(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder("utf-8").decode(bytes);
  const broken = text.split("\ufffd").length - 1;
  const whole = [...text.matchAll(/[\u0080-\ufffc]/g)].length;
  return whole > broken ? text : undefined;
}

function decodeMostly(bytes: Uint8Array, encoding: string): string | undefined {
  const text = new TextDecoder(encoding).decode(bytes);
  const unreadable = text.split("\ufffd").length - 1;
  return unreadable <= text.length * MAX_UNREADABLE ? text : undefined;
}

function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function fallBack(bytes: Uint8Array): string {
  return new TextDecoder(FALLBACK).decode(bytes);
}

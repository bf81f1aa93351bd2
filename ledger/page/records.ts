/**
 * Takes JSON apart without reading its values, so that each record keeps the bytes in which it came. What is not JSON
 * gives pieces that are not JSON either, and verifying those fails.
 */
import { readPosition } from "../rules/mod.ts";

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);

/** The texts between the commas of an object or array, not of those within it. */
export function pieces(json: string): string[] {
  const text = json.trim();
  const found: string[] = [];
  let [depth, start] = [0, 1];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (OPEN.has(code)) {
      depth++;
    } else if (CLOSE.has(code)) {
      depth--;
    } else if (code === COMMA && depth === 1) {
      found.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = text.slice(start, -1).trim();
  return last === "" && found.length === 0 ? [] : [...found, last];
}

/** The text of one value of an object, or undefined. */
export function valueOf(json: string, name: string): string | undefined {
  const key = JSON.stringify(name);
  const piece = pieces(json).find((piece) => piece.startsWith(key));
  return piece?.slice(key.length).trimStart().replace(/^:\s*/, "");
}

/** Where the string that starts at `start` ends: its last quote. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** Records of a file: a page of `/api/export`, an array, one record, or one record a line; newest first or oldest. */
export interface Exported {
  /** Oldest first. */
  readonly records: readonly string[];
  /** Position of the first, where the file says it. */
  readonly from: number | undefined;
}

/** Takes an exported file apart. @throws {TypeError} it holds no receipts, with what would be right */
export function recordsOf(text: string): Exported {
  const json = text.trim();
  if (json.startsWith("[")) return oldestFirst(pieces(json));
  if (!json.startsWith("{")) throw new TypeError(NOT_EXPORTED);
  const lines = json.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > 1 && lines.every((line) => /^\s*\{.*\}\s*$/.test(line))) {
    return oldestFirst(lines);
  }
  const receipts = valueOf(json, "receipts");
  if (receipts?.startsWith("[")) {
    const from = Number(valueOf(json, "from") ?? NaN);
    const { records } = oldestFirst(pieces(receipts));
    return { records, from: Number.isSafeInteger(from) ? from : startOf(records[0]) };
  }
  if (valueOf(json, "prev_hash") === undefined) throw new TypeError(NOT_EXPORTED);
  return oldestFirst([json]);
}

const NOT_EXPORTED =
  "This is no export: expected a page of /api/export, an array of receipts, one receipt, or one a line";

function oldestFirst(records: readonly string[]): Exported {
  const [first, second] = records;
  const newestFirst = first !== undefined && second !== undefined &&
    valueOf(first, "prev_hash") === valueOf(second, "hash_sha256") &&
    valueOf(first, "prev_hash") !== undefined;
  const ordered = newestFirst ? records.toReversed() : records;
  return { records: ordered, from: startOf(ordered[0]) };
}

/** Where a record of era 3 says that it stands; the first one of all is told by its empty link. */
function startOf(record: string | undefined): number | undefined {
  if (record === undefined) return undefined;
  return valueOf(record, "prev_hash") === '""' ? 0 : readPosition(record);
}

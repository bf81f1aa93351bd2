/**
 * Splits JSON without parsing its values, so that each record keeps its bytes. Text that is not JSON is split into
 * texts that are not JSON either, and verifying those fails.
 */
import { readPosition } from "../../rules/mod.ts";

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);

/** Splits an object or array at its own commas, not at those of nested values. */
export function splitJson(json: string): string[] {
  const text = json.trim();
  const parts: string[] = [];
  let [depth, start] = [0, 1];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = findStringEnd(text, at);
    } else if (OPEN.has(code)) {
      depth++;
    } else if (CLOSE.has(code)) {
      depth--;
    } else if (code === COMMA && depth === 1) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = text.slice(start, -1).trim();
  return last === "" && parts.length === 0 ? [] : [...parts, last];
}

/** Finds the text of a value of an object. @returns undefined if there is none */
export function findValue(json: string, name: string): string | undefined {
  const key = JSON.stringify(name);
  const part = splitJson(json).find((part) => part.startsWith(key));
  return part?.slice(key.length).trimStart().replace(/^:\s*/, "");
}

/** Finds the closing quote of the string that starts at `start`. */
function findStringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** The records of an exported file. */
export interface ExportedRecords {
  /** Oldest first. */
  readonly records: readonly string[];
  /** Position of the first; undefined if the file does not say it. */
  readonly from: number | undefined;
}

/**
 * Splits an exported file: a page of `/api/export`, an array of records, one record, or one record per line; oldest or
 * newest first.
 *
 * @throws {TypeError} the file has none of these forms
 */
export function splitExport(text: string): ExportedRecords {
  const json = text.trim();
  if (json.startsWith("[")) return sortOldestFirst(splitJson(json));
  if (!json.startsWith("{")) throw new TypeError(NOT_EXPORTED);
  const lines = json.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > 1 && lines.every((line) => /^\s*\{.*\}\s*$/.test(line))) {
    return sortOldestFirst(lines);
  }
  const receipts = findValue(json, "receipts");
  if (receipts?.startsWith("[")) {
    const from = Number(findValue(json, "from") ?? NaN);
    const { records } = sortOldestFirst(splitJson(receipts));
    return { records, from: Number.isSafeInteger(from) ? from : findStart(records[0]) };
  }
  if (findValue(json, "prev_hash") === undefined) throw new TypeError(NOT_EXPORTED);
  return sortOldestFirst([json]);
}

const NOT_EXPORTED =
  "This is not an export: expected a page of /api/export, an array of receipts, one receipt, or one receipt per line";

function sortOldestFirst(records: readonly string[]): ExportedRecords {
  const [first, second] = records;
  const isNewestFirst = first !== undefined && second !== undefined &&
    findValue(first, "prev_hash") === findValue(second, "hash_sha256") &&
    findValue(first, "prev_hash") !== undefined;
  const ordered = isNewestFirst ? records.toReversed() : records;
  return { records: ordered, from: findStart(ordered[0]) };
}

/** Finds the position that a record claims. The very first receipt links to nothing; others of eras 1 and 2 claim none. */
function findStart(record: string | undefined): number | undefined {
  if (record === undefined) return undefined;
  return findValue(record, "prev_hash") === '""' ? 0 : readPosition(record);
}

/**
 * Splits JSON without parsing its values, so that each record keeps its bytes. Text that is not JSON is split into
 * texts that are not JSON either, and verifying those fails.
 */
import {
  BadReceiptFile,
  createReceiptSplitter,
  isNewestFirst,
  isReceipt,
  readLink,
  readPosition,
} from "../../rules/mod.ts";

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
  /** Number of receipts that the ledger has, if the file says it. */
  readonly total?: number;
  /** How the fields around the records contradict them, if they do. */
  readonly contradiction?: string;
}

/**
 * Splits an exported file, by the same lines as the command: a page of `/api/export`, an array of records, one record, or
 * one record per line; oldest or newest first. All of the file is read, and there is nothing else in it.
 *
 * @throws {TypeError} the file has none of these forms
 */
export function splitExport(file: string | Uint8Array): ExportedRecords {
  const bytes = typeof file === "string" ? UTF_8.encode(file) : file;
  try {
    const splitter = createReceiptSplitter();
    const found = splitter.push(bytes).map((record) => STRICT_UTF_8.decode(record.bytes));
    const { from, total, contradiction } = splitter.end();
    const [first, second] = found;
    if (first !== undefined && !isReceipt(first)) throw new BadReceiptFile("It has no receipts");
    const records = first !== undefined && isNewestFirst(first, second) ? found.reverse() : found;
    const start = from ?? findStart(records[0]);
    return {
      records,
      from: start,
      ...(total === undefined ? {} : { total }),
      ...(contradiction === undefined ? {} : { contradiction }),
    };
  } catch (error) {
    if (!(error instanceof BadReceiptFile || error instanceof TypeError)) throw error;
    throw new TypeError(`This is not an export: ${error.message}; ${EXPECTED}`);
  }
}

const UTF_8 = new TextEncoder();
const STRICT_UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const EXPECTED =
  "expected a page of /api/export, an array of receipts, one receipt, or one receipt per line";

/** Finds the position that a record claims. The very first receipt links to nothing; others of eras 1 and 2 claim none. */
function findStart(record: string | undefined): number | undefined {
  if (record === undefined) return undefined;
  return readLink(record) === "" ? 0 : readPosition(record);
}

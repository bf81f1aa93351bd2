/**
 * The form of an input of receipts, which all verifiers read whole: receipts and at most one envelope, each name once, and
 * nothing behind. It is one of: an object whose `receipts` are an array, an array of receipts, or one receipt a line.
 */
import { openRecorder } from "./_recorder.ts";
import { NotCanonical } from "./canonical.ts";
import { canonicalizeFields } from "./canonical_text.ts";
import { parseFields, readLink } from "./record_fields.ts";

/** A receipt as it was found in a stream. */
export interface RawReceipt {
  /** JSON text of one object, without the spaces between its tokens. */
  readonly bytes: Uint8Array;
  /** Offset of its first byte in the stream, and of the first one after it. */
  readonly start: number;
  readonly end: number;
}

/** The fields around the receipts; none where there is no envelope. */
export interface Envelope {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Numbers that it says, where it says them. */
  readonly from?: number;
  readonly total?: number;
  /** How it contradicts the receipts within it, where it does. */
  readonly contradiction?: string;
}

/** Splits a stream of bytes into receipts. It never holds more than one that is incomplete. */
export interface ReceiptSplitter {
  /** Adds a chunk, and returns the receipts that are complete with it. @throws {BadReceiptFile} */
  push(chunk: Uint8Array): RawReceipt[];
  /** Ends the stream. @throws {BadReceiptFile} it ends within a value, is empty, or says something twice */
  end(): Envelope;
  /** Returns true where there is nothing around the receipts, which are one a line. */
  isOfLines(): boolean;
}

/** A stream does not hold receipts in one of the known forms. */
export class BadReceiptFile extends Error {
  override readonly name = "BadReceiptFile";

  /**
   * @param part what of it can't be read. `end`: it is missing, and may be there elsewhere; `receipt`: one of the receipts,
   * of which others may be readable
   */
  constructor(message: string, readonly part: "end" | "receipt" | "other" = "other") {
    super(message);
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
const LINE_FEED = 0x0a;
const SPACES = new Set([0x20, 0x09, LINE_FEED, 0x0d]);
const MARKS = new Set([QUOTE, COMMA, COLON, BRACE, BRACE_END, BRACKET, BRACKET_END]);
/** Length of the longest spelling of `{"receipts":`, with each letter as an escape. */
const MAX_NAME_LENGTH = 52;
const NAME_AT_END = /[{,]("(?:[^"\\]|\\.)*"):$/;
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The token that may come next between receipts. */
type Next = "first" | "separator" | "receipt";

/** Creates a splitter. The content of a receipt is not checked here. */
export function createReceiptSplitter(): ReceiptSplitter {
  const recorder = openRecorder((reason) => {
    throw new BadReceiptFile(reason, "receipt");
  });
  let form: "unknown" | "array" | "page" | "lines" = "unknown";
  let receipts: RawReceipt[] = [];
  let chunk: Uint8Array = new Uint8Array();
  let offset = 0; // of the chunk in the stream
  let at = 0; // within the chunk
  let depth = 0;
  let closeDepth = 0; // depth to which the end of a receipt, or of the envelope, goes back
  let inString = false;
  let backslash = -1; // next one in the chunk, where it is known
  let next: Next = "first";
  let last = 0; // the byte before, and whether spaces came after it
  let hasGap = false;
  let isBroken = false; // the receipt, over several lines
  let hasEnded = false;
  let head: Uint8Array | undefined; // of the envelope
  let tail: Uint8Array | undefined;
  let count = 0;

  function skipString(): void {
    while (at < chunk.length) {
      const quote = orEnd(chunk.indexOf(QUOTE, at), chunk);
      if (backslash < at) backslash = orEnd(chunk.indexOf(BACKSLASH, at), chunk);
      if (quote < backslash) {
        inString = false;
        at = quote + 1;
        return;
      }
      at = backslash < quote ? backslash + 2 : chunk.length;
    }
  }

  function unexpected(): never {
    const message = `Expected receipts, and found something else at byte ${offset + at}`;
    throw new BadReceiptFile(message, hasEnded ? "other" : "receipt");
  }

  /** Reads a byte that stands between receipts. */
  function between(code: number): void {
    const isList = form === "array" || form === "page";
    if (hasEnded) unexpected();
    if (code === BRACE && next !== "separator") {
      if (form === "lines" && isBroken) unexpected(); // then it is one receipt alone
      recorder.begin(offset + at, at);
      depth++;
    } else if (code === BRACKET && form === "unknown") {
      [form, depth, closeDepth] = ["array", 1, 1];
    } else if (code === COMMA && isList && next === "separator") {
      next = "receipt";
    } else if (code === BRACKET_END && isList && next !== "receipt") {
      depth--;
      closeDepth = 0;
      if (form === "page") recorder.begin(offset + at + 1, at + 1);
      else hasEnded = true;
    } else {
      unexpected();
    }
  }

  /** Reads a byte of a receipt or of the envelope. */
  function within(code: number): void {
    if (hasGap && !MARKS.has(last) && !MARKS.has(code)) unexpected(); // two values, and not one
    if (code === BRACE || code === BRACKET) {
      const isPage = code === BRACKET && (form === "unknown" || form === "lines") && depth === 1 &&
        endsWithReceipts(recorder.tail(MAX_NAME_LENGTH, at));
      if (isPage && form === "lines") unexpected(); // a page behind receipts, and no receipt
      depth++;
      if (isPage) [form, closeDepth, head] = ["page", depth, recorder.take(at)];
    } else if (code === BRACE_END || code === BRACKET_END) {
      depth--;
      if (depth === closeDepth) close();
    } else {
      inString = code === QUOTE;
    }
  }

  /** Ends a receipt, or the envelope. */
  function close(): void {
    const start = recorder.start();
    const bytes = recorder.take(at + 1);
    if (form === "page" && depth === 0) {
      [tail, hasEnded] = [bytes, true];
      return;
    }
    if (form === "lines" && isBroken) unexpected();
    if (form === "unknown") form = "lines";
    receipts.push({ bytes, start, end: offset + at + 1 });
    count++;
    next = "separator";
  }

  function space(code: number): void {
    hasGap = true;
    if (recorder.isRecording()) {
      recorder.leaveOut(at);
      if (code === LINE_FEED && (form === "unknown" || form === "lines")) isBroken = true;
    } else if (form === "lines" && code === LINE_FEED) {
      next = "receipt";
    }
  }

  function step(code: number): void {
    if (SPACES.has(code)) return space(code);
    if (recorder.isRecording()) within(code);
    else between(code);
    [last, hasGap] = [code, false];
  }

  return {
    push(more) {
      at -= chunk.length; // 1 where an escape continues from the chunk before
      [chunk, receipts, backslash] = [more, [], -1];
      recorder.startChunk(chunk);
      while (at < chunk.length) {
        if (inString) skipString();
        else {
          step(chunk[at]!);
          at++;
        }
      }
      recorder.finishChunk();
      offset += chunk.length;
      return receipts;
    },
    end() {
      if (depth > 0 || inString) {
        throw new BadReceiptFile("It ends in the middle of a receipt", "end");
      }
      if (form === "unknown") throw new BadReceiptFile("It is empty", "end");
      return head && tail ? readEnvelope(head, tail, count) : { fields: {} };
    },
    isOfLines: () => form === "lines",
  };
}

/** Returns true where a text ends with the name of the receipts and a colon, in whatever spelling. */
function endsWithReceipts(text: string): boolean {
  const name = NAME_AT_END.exec(text)?.[1];
  try {
    return name !== undefined && JSON.parse(name) === "receipts";
  } catch {
    return false;
  }
}

const orEnd = (at: number, chunk: Uint8Array) => at < 0 ? chunk.length : at;

/** @throws {BadReceiptFile} it is no JSON, names something twice, or has a number that is none */
function readEnvelope(head: Uint8Array, tail: Uint8Array, found: number): Envelope {
  const fields = parseStrictly(`${decode(head)}[]${decode(tail)}`);
  const { receipts: _, ...others } = fields;
  const [from, count, total] = ["from", "count", "total"].map((name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value === undefined || Number.isSafeInteger(value) && Number(value) >= 0) return value;
    throw new BadReceiptFile(`Its ${name} is no whole number`);
  }) as (number | undefined)[];
  const contradiction = count === undefined || count === found
    ? undefined
    : `It says that it has ${count} receipts, and has ${found}`;
  return {
    fields: others,
    ...(from === undefined ? {} : { from }),
    ...(total === undefined ? {} : { total }),
    ...(contradiction === undefined ? {} : { contradiction }),
  };
}

function parseStrictly(text: string): Readonly<Record<string, unknown>> {
  try {
    return parseObject(text);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new BadReceiptFile(`The fields around its receipts can't be read: ${error.message}`);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw new BadReceiptFile("It is not UTF-8");
  }
}

/**
 * Parses a JSON object in which each name is there once, at every depth: programs differ in which of two they read.
 *
 * @throws {NotCanonical}
 */
export function parseObject(json: string): Readonly<Record<string, unknown>> {
  const fields = canonicalizeFields(json);
  return Object.fromEntries([...fields].map(([name, text]) => [name, JSON.parse(text)]));
}

/**
 * Returns true where receipts come newest first. The oldest links to nothing. Where it is missing, the second one of a file
 * that is oldest first links to the first.
 */
export function isNewestFirst(first: string, second: string | undefined): boolean {
  if (readLink(first) === "") return false;
  return second === undefined || readLink(second) !== parseFields(first).hash_sha256;
}

/** Returns true for the text of an object that has the id and the hash of a receipt. It is not verified here. */
export function isReceipt(json: string): boolean {
  const { id, hash_sha256 } = parseFields(json);
  return typeof id === "string" && typeof hash_sha256 === "string";
}

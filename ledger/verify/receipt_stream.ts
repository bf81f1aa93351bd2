/** Receipts out of a stream of bytes, whatever they come in, without ever holding more than one of them. */

/** A receipt of a stream. */
export interface RawReceipt {
  /** JSON text of one object, without the spaces between its tokens. */
  readonly bytes: Buffer;
  /** Offset of its first byte in the stream, and of the first one after it. */
  readonly start: number;
  readonly end: number;
}

/** Takes chunks, gives the receipts that are whole. */
export interface ReceiptSplitter {
  push(chunk: Buffer): RawReceipt[];
  /** @throws {BadReceiptFile} the stream ended within a value */
  end(): void;
}

/** A stream does not hold receipts in one of the forms that are known. */
export class BadReceiptFile extends Error {
  override readonly name = "BadReceiptFile";
}

/** Most bytes of one receipt, or of what stands before the first. */
const MOST_BYTES = 8 * 1024 * 1024;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);
const RECEIPTS = ['{"receipts":', ',"receipts":'];
/** Depth at which nothing lies. */
const NOWHERE = -1;

/**
 * Makes a splitter for what `/api/export` gives, in both of its forms, and for a bare array: an object with an array
 * `receipts`, or several of them as pages, one object a line, or an array of objects. What is within a receipt is
 * looked at by who verifies it.
 *
 * @param onEnvelope told, before the first receipt of a page, of the fields that stand before it
 */
export function createReceiptSplitter(
  onEnvelope: (fields: Readonly<Record<string, unknown>>) => void = () => {},
): ReceiptSplitter {
  const keeper = openKeeper();
  let receipts: RawReceipt[] = [];
  let chunk: Buffer = Buffer.alloc(0);
  let offset = 0; // of the chunk in the stream
  let at = 0; // within the chunk
  let depth = 0;
  let receiptDepth = 0; // how deep receipts lie
  let inString = false;
  let backslash = -1; // the next one in the chunk, where it is known
  let isArray = false;
  let begun = false;

  /** Goes on to where the string ends, or the chunk. */
  function passString(): void {
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

  function open(code: number): void {
    if (keeper.isKeeping()) {
      const mayBePage = code === BRACKET && depth === 1 && receiptDepth === 0;
      if (mayBePage && RECEIPTS.includes(keeper.tail(RECEIPTS[0]!.length, chunk, at))) beginPage();
    } else if (depth === 0 && !begun && code === BRACKET) {
      isArray = true;
      receiptDepth = 1;
    } else if (depth === 0 && begun && isArray) {
      unexpected();
    } else if (depth === 0 || depth === receiptDepth) {
      if (code !== BRACE) unexpected();
      if (depth === 0) receiptDepth = 0; // a page may follow a page
      keeper.begin(offset + at, at);
    }
    begun = true;
    depth++;
  }

  function beginPage(): void {
    const text = `${keeper.take(chunk, at)}[]}`;
    try {
      const { receipts: _, ...fields } = JSON.parse(text);
      onEnvelope(fields);
    } catch {
      unexpected();
    }
    receiptDepth = 2;
  }

  function close(code: number): void {
    depth--;
    if (keeper.isKeeping()) {
      if (depth !== receiptDepth) return;
      const { start } = keeper;
      receipts.push({ start: start(), end: offset + at + 1, bytes: keeper.take(chunk, at + 1) });
    } else if (depth === receiptDepth - 1) {
      if (code !== BRACKET_END) unexpected();
      receiptDepth = NOWHERE;
    } else if (depth < 0) {
      unexpected();
    }
  }

  function unexpected(): never {
    throw new BadReceiptFile(`Expected receipts, and found something else at byte ${offset + at}`);
  }

  function pass(code: number): void {
    if (SPACES.has(code)) {
      keeper.leaveOut(chunk, at);
    } else if (code === BRACE || code === BRACKET) {
      open(code);
    } else if (code === BRACE_END || code === BRACKET_END) {
      close(code);
    } else {
      const between = !keeper.isKeeping() && (depth === 0 || depth === receiptDepth);
      if (between && code !== COMMA) unexpected();
      inString = code === QUOTE;
    }
    at++;
  }

  return {
    push(next) {
      at -= chunk.length; // 1 where an escape goes on from the chunk before
      [chunk, receipts, backslash] = [next, [], -1];
      keeper.next();
      while (at < chunk.length) {
        if (inString) passString();
        else pass(chunk[at]!);
      }
      keeper.keep(chunk);
      offset += chunk.length;
      return receipts;
    },
    end() {
      if (depth > 0 || inString) throw new BadReceiptFile("It ends in the middle of a receipt");
      if (!begun) throw new BadReceiptFile("It is empty");
    },
  };
}

const orEnd = (at: number, chunk: Buffer) => at < 0 ? chunk.length : at;

/** Keeps a value that may begin in one chunk and end in another, without some of its bytes. */
function openKeeper() {
  let start = -1; // of the value in the stream; negative: none is being kept
  let from = 0; // of what is to be kept, in the chunk
  let pieces: Buffer[] = [];
  let bytes = 0;

  function add(chunk: Buffer, to: number): void {
    if (start < 0 || to <= from) return;
    pieces.push(chunk.subarray(from, to));
    bytes += to - from;
    if (bytes > MOST_BYTES) {
      throw new BadReceiptFile(`What begins at byte ${start} is larger than ${MOST_BYTES} bytes`);
    }
  }

  return {
    isKeeping: () => start >= 0,
    start: () => start,
    begin(offset: number, at: number) {
      [start, from] = [offset, at];
    },
    /** Leaves out one byte. */
    leaveOut(chunk: Buffer, at: number) {
      add(chunk, at);
      from = at + 1;
    },
    /** Keeps the rest of the chunk. */
    keep: (chunk: Buffer) => add(chunk, chunk.length),
    next() {
      from = 0;
    },
    /** The last bytes before a place, as text. */
    tail(length: number, chunk: Buffer, at: number): string {
      let text = chunk.toString("latin1", Math.max(from, at - length), at);
      for (let n = pieces.length - 1; n >= 0 && text.length < length; n--) {
        text = pieces[n]!.toString("latin1", Math.max(0, pieces[n]!.length - length)) + text;
      }
      return text.slice(-length);
    },
    /** All that was kept up to a place; nothing is being kept from there on. */
    take(chunk: Buffer, at: number): Buffer {
      add(chunk, at);
      const value = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes);
      [start, from, pieces, bytes] = [-1, at, [], 0];
      return value;
    },
  };
}

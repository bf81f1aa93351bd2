/** A receipt as it was found in a stream. */
export interface RawReceipt {
  /** JSON text of one object, without the spaces between its tokens. */
  readonly bytes: Buffer;
  /** Offset of its first byte in the stream, and of the first one after it. */
  readonly start: number;
  readonly end: number;
}

/** Splits a stream of bytes into receipts. It never holds more than one that is incomplete. */
export interface ReceiptSplitter {
  /** Adds a chunk, and returns the receipts that are complete with it. */
  push(chunk: Buffer): RawReceipt[];
  /** Ends the stream. @throws {BadReceiptFile} it ends within a value, or is empty */
  end(): void;
}

/** A stream does not hold receipts in one of the known forms. */
export class BadReceiptFile extends Error {
  override readonly name = "BadReceiptFile";
}

/** Bytes of one receipt, or of the fields before the first. */
const MAX_BYTES = 8 * 1024 * 1024;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);
const RECEIPTS = ['{"receipts":', ',"receipts":'];
/** Depth of receipts where none follow. */
const NOWHERE = -1;

/**
 * Creates a splitter for the answers of `/api/export` and for arrays: an object with an array `receipts`, several of them
 * as pages, one object a line, or an array of objects. The content of a receipt is not checked here.
 *
 * @param onEnvelope called, before the first receipt of a page, with the fields before it
 */
export function createReceiptSplitter(
  onEnvelope: (fields: Readonly<Record<string, unknown>>) => void = () => {},
): ReceiptSplitter {
  const recorder = openRecorder();
  let receipts: RawReceipt[] = [];
  let chunk: Buffer = Buffer.alloc(0);
  let offset = 0; // of the chunk in the stream
  let at = 0; // within the chunk
  let depth = 0;
  let receiptDepth = 0; // depth at which receipts begin
  let inString = false;
  let backslash = -1; // next one in the chunk, where it is known
  let isArray = false;
  let hasBegun = false;

  /** Advances to the end of the string, or of the chunk. */
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

  function open(code: number): void {
    if (recorder.isRecording()) {
      const isPageStart = code === BRACKET && depth === 1 && receiptDepth === 0;
      if (isPageStart && RECEIPTS.includes(recorder.tail(RECEIPTS[0]!.length, chunk, at))) {
        beginPage();
      }
    } else if (depth === 0 && !hasBegun && code === BRACKET) {
      isArray = true;
      receiptDepth = 1;
    } else if (depth === 0 && hasBegun && isArray) {
      unexpected();
    } else if (depth === 0 || depth === receiptDepth) {
      if (code !== BRACE) unexpected();
      if (depth === 0) receiptDepth = 0; // a page may follow a page
      recorder.begin(offset + at, at);
    }
    hasBegun = true;
    depth++;
  }

  function beginPage(): void {
    const text = `${recorder.take(chunk, at)}[]}`;
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
    if (recorder.isRecording()) {
      if (depth !== receiptDepth) return;
      const { start } = recorder;
      receipts.push({ start: start(), end: offset + at + 1, bytes: recorder.take(chunk, at + 1) });
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

  function step(code: number): void {
    if (SPACES.has(code)) {
      recorder.leaveOut(chunk, at);
    } else if (code === BRACE || code === BRACKET) {
      open(code);
    } else if (code === BRACE_END || code === BRACKET_END) {
      close(code);
    } else {
      const isBetween = !recorder.isRecording() && (depth === 0 || depth === receiptDepth);
      if (isBetween && code !== COMMA) unexpected();
      inString = code === QUOTE;
    }
    at++;
  }

  return {
    push(next) {
      at -= chunk.length; // 1 where an escape continues from the chunk before
      [chunk, receipts, backslash] = [next, [], -1];
      recorder.startChunk();
      while (at < chunk.length) {
        if (inString) skipString();
        else step(chunk[at]!);
      }
      recorder.finishChunk(chunk);
      offset += chunk.length;
      return receipts;
    },
    end() {
      if (depth > 0 || inString) throw new BadReceiptFile("It ends in the middle of a receipt");
      if (!hasBegun) throw new BadReceiptFile("It is empty");
    },
  };
}

const orEnd = (at: number, chunk: Buffer) => at < 0 ? chunk.length : at;

/** Records a value that may begin in one chunk and end in another, without the bytes to leave out. */
function openRecorder() {
  let start = -1; // of the value in the stream; negative: none is being recorded
  let from = 0; // of the bytes to record, in the chunk
  let pieces: Buffer[] = [];
  let bytes = 0;

  function add(chunk: Buffer, to: number): void {
    if (start < 0 || to <= from) return;
    pieces.push(chunk.subarray(from, to));
    bytes += to - from;
    if (bytes > MAX_BYTES) {
      throw new BadReceiptFile(`The value at byte ${start} is larger than ${MAX_BYTES} bytes`);
    }
  }

  return {
    isRecording: () => start >= 0,
    start: () => start,
    begin(offset: number, at: number) {
      [start, from] = [offset, at];
    },
    /** Leaves out one byte. */
    leaveOut(chunk: Buffer, at: number) {
      add(chunk, at);
      from = at + 1;
    },
    /** Records the rest of the chunk. */
    finishChunk: (chunk: Buffer) => add(chunk, chunk.length),
    startChunk() {
      from = 0;
    },
    /** Returns the last bytes before a place, as text. */
    tail(length: number, chunk: Buffer, at: number): string {
      let text = chunk.toString("latin1", Math.max(from, at - length), at);
      for (let n = pieces.length - 1; n >= 0 && text.length < length; n--) {
        text = pieces[n]!.toString("latin1", Math.max(0, pieces[n]!.length - length)) + text;
      }
      return text.slice(-length);
    },
    /** Ends the recording, and returns what was recorded up to a place. */
    take(chunk: Buffer, at: number): Buffer {
      add(chunk, at);
      const value = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes);
      [start, from, pieces, bytes] = [-1, at, [], 0];
      return value;
    },
  };
}

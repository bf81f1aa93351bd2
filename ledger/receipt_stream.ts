/** Receipts out of a stream of bytes, whatever they come in, without ever holding more than one of them. */

/** A receipt of a stream. */
export interface FoundReceipt {
  /** JSON text of one object, without the spaces between its tokens. */
  readonly bytes: Buffer;
  /** Offset of its first byte in the stream, and of the first one after it. */
  readonly start: number;
  readonly end: number;
}

/** Takes chunks, gives the receipts that are whole. */
export interface ReceiptSplitter {
  push(chunk: Buffer): FoundReceipt[];
  /** @throws {BadReceiptFile} the stream ended within a value */
  end(): void;
}

/** A stream does not hold receipts in one of the forms that are known. */
export class BadReceiptFile extends Error {
  override readonly name = "BadReceiptFile";
}

/** Most bytes of one receipt, or of all that stands around them. */
const MOST_BYTES = 8 * 1024 * 1024;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
const RECEIPTS = /[{,]"receipts":$/;

/**
 * Makes a splitter for what `/api/export` gives, in both of its forms, and for a bare array: an object with an array
 * `receipts`, one object a line, or an array of objects. What is within a receipt is looked at by who verifies it.
 *
 * @param onEnvelope told, before the first receipt, of the fields that stand before them
 */
export function receiptSplitter(
  onEnvelope: (fields: Readonly<Record<string, unknown>>) => void = () => {},
): ReceiptSplitter {
  let offset = 0; // of the chunk in the stream
  let depth = 0;
  let receiptDepth = 0; // how deep receipts lie; NaN after the last one
  let inString = false;
  let skip = 0; // bytes of an escape that the next chunk begins with
  let begun = false;
  let found = 0;
  let start = -1; // of the value that is being kept
  let kept: Buffer[] = [];
  let keptBytes = 0;

  function keep(piece: Buffer): void {
    keptBytes += piece.length;
    if (keptBytes > MOST_BYTES) {
      throw new BadReceiptFile(`A receipt at byte ${start} is larger than ${MOST_BYTES} bytes`);
    }
    if (piece.length > 0) kept.push(piece);
  }

  function take(): Buffer {
    const bytes = kept.length === 1 ? kept[0]! : Buffer.concat(kept);
    [kept, keptBytes, start] = [[], 0, -1];
    return bytes;
  }

  function unexpected(at: number): never {
    throw new BadReceiptFile(`Expected receipts, and found something else at byte ${offset + at}`);
  }

  return {
    push(chunk) {
      const receipts: FoundReceipt[] = [];
      let from = 0; // of what is to be kept
      let backslash = -1;
      let at = skip;
      skip = 0;
      while (at < chunk.length) {
        if (inString) {
          const quote = orEnd(chunk.indexOf(QUOTE, at), chunk);
          if (backslash < at) backslash = orEnd(chunk.indexOf(BACKSLASH, at), chunk);
          if (backslash < quote) {
            at = backslash + 2;
            continue;
          }
          inString = quote === chunk.length;
          at = inString ? quote : quote + 1;
          continue;
        }
        const code = chunk[at]!;
        if (code === QUOTE) {
          if (start < 0 && depth === receiptDepth) unexpected(at);
          inString = true;
        } else if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
          if (start >= 0) keep(chunk.subarray(from, at));
          from = at + 1;
        } else if (code === BRACE || code === BRACKET) {
          if (code === BRACKET && start < 0 && depth === receiptDepth) {
            if (begun || depth > 0) unexpected(at);
            receiptDepth = 1;
          } else if (start < 0 && depth === receiptDepth) {
            [start, from] = [offset + at, at];
          } else if (code === BRACKET && depth === 1 && receiptDepth === 0 && found === 0) {
            const before = Buffer.concat([...kept, chunk.subarray(from, at)]).toString();
            if (RECEIPTS.test(before)) {
              const { receipts: _, ...fields } = JSON.parse(`${before}[]}`);
              onEnvelope(fields);
              take();
              receiptDepth = 2;
            }
          }
          begun = true;
          depth++;
        } else if (code === BRACE_END || code === BRACKET_END) {
          depth--;
          if (start >= 0 && depth === receiptDepth) {
            keep(chunk.subarray(from, at + 1));
            receipts.push({ start, end: offset + at + 1, bytes: take() });
            found++;
          } else if (depth < receiptDepth) {
            if (depth < 0 || code === BRACE_END) unexpected(at);
            receiptDepth = NaN;
          }
        } else if (start < 0 && depth === receiptDepth && code !== 0x2c) {
          unexpected(at);
        }
        at++;
      }
      skip = at - chunk.length;
      if (start >= 0) keep(chunk.subarray(Math.min(from, chunk.length)));
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

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import {
  BadReceiptFile,
  createReceiptSplitter,
  type Envelope,
  isNewestFirst,
  isReceipt,
  type RawReceipt,
} from "../rules/mod.ts";

/** A file of receipts: an answer of `/api/export`, one receipt a line, or an array, newest or oldest first. */
export interface ReceiptFile {
  /** The fields around its receipts. */
  readonly envelope: Envelope["fields"];
  /** Number of receipts that its ledger has, where it says so. */
  readonly total: number | undefined;
  /** How its fields contradict its receipts, where they do. */
  readonly contradiction: string | undefined;
  readonly newestFirst: boolean;
  /**
   * Reads the receipts in batches, oldest first, each as JSON text without spaces between its tokens. Every call reads the
   * file again. Only one batch is in memory, and the offsets of all batches of a file that is newest first.
   *
   * @throws {BadReceiptFile} the file holds something else, or ends too early
   */
  batches(): AsyncIterable<readonly Buffer[]>;
  close(): Promise<void>;
}

const NO_RECEIPT =
  "There are no receipts in it: the first object is no JSON, or has no id or no hash_sha256";
const CHUNK_BYTES = 1 << 20;
const MAX_BATCH_SIZE = 500;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Opens a file, and reads all of it, so that nothing in it is left unread.
 *
 * @param options `isPart`: it may begin with any receipt
 * @throws {BadReceiptFile} there are no receipts in it, not the first, or something else beside them
 */
export async function openReceiptFile(
  path: string,
  { isPart = false }: { readonly isPart?: boolean } = {},
): Promise<ReceiptFile> {
  const file = await open(path);
  try {
    const { first, second, envelope } = await readStructure(path);
    const { fields, from = 0, total, contradiction } = envelope;
    if (!isPart && from > 0) {
      throw new BadReceiptFile(`It begins at position ${from}, and not with the first receipt`);
    }
    const newestFirst = isNewestFirst(first, second);
    return {
      envelope: fields,
      total,
      contradiction,
      newestFirst,
      batches: () => newestFirst ? readBackwards(file, path) : readForwards(path),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Computes the SHA-256 of a file. */
export async function hashFile(path: string): Promise<Buffer> {
  const hash = createHash("sha256");
  for await (const chunk of readChunks(path)) hash.update(chunk);
  return hash.digest();
}

/** Groups receipts into batches, bounded in number and bytes. Receipts before a failure are yielded before it is thrown. */
export async function* groupReceipts(
  found: AsyncIterable<readonly RawReceipt[]>,
): AsyncGenerator<RawReceipt[]> {
  let batch: RawReceipt[] = [];
  let bytes = 0;
  let failure: { error: unknown } | undefined;
  const source = found[Symbol.asyncIterator]();
  const next = () =>
    source.next().catch((error) => {
      failure = { error };
      return { done: true as const, value: undefined };
    });
  try {
    for (let { done, value } = await next(); !done; { done, value } = await next()) {
      for (const receipt of value!) {
        batch.push(receipt);
        bytes += receipt.bytes.length;
        if (batch.length < MAX_BATCH_SIZE && bytes < MAX_BATCH_BYTES) continue;
        yield batch;
        [batch, bytes] = [[], 0];
      }
    }
    if (batch.length > 0) yield batch;
    if (failure) throw failure.error;
  } finally {
    await source.return?.();
  }
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
}

async function* readReceipts(
  path: string,
  onEnd: (envelope: Envelope) => void = () => {},
): AsyncGenerator<RawReceipt[]> {
  const splitter = createReceiptSplitter();
  for await (const chunk of readChunks(path)) yield splitter.push(chunk);
  onEnd(splitter.end());
}

/** Reads all of a file. Returns its first two receipts, or one where there is no second. */
async function readStructure(path: string) {
  const first: string[] = [];
  let envelope: Envelope = { fields: {} };
  for await (const receipts of readReceipts(path, (found) => envelope = found)) {
    for (const { bytes } of receipts) {
      if (first.length === 2) break;
      first.push(asBuffer(bytes).toString());
      if (first.length === 1 && !isReceipt(first[0]!)) throw new BadReceiptFile(NO_RECEIPT);
    }
  }
  if (first.length === 0) throw new BadReceiptFile("There are no receipts in it");
  return { first: first[0]!, second: first[1], envelope };
}

/** Returns the same bytes as a buffer. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function* readForwards(path: string) {
  for await (const batch of groupReceipts(readReceipts(path))) {
    yield batch.map(({ bytes }) => asBuffer(bytes));
  }
}

/** Finds the offsets of all receipts, then reads them from the last to the first. */
async function* readBackwards(file: FileHandle, path: string) {
  const batches: (readonly { readonly start: number; readonly end: number }[])[] = [];
  for await (const batch of groupReceipts(readReceipts(path))) {
    batches.push(batch.map(({ start, end }) => ({ start, end })));
  }
  for (const batch of batches.toReversed()) {
    const { start } = batch[0]!;
    const region = Buffer.alloc(batch.at(-1)!.end - start);
    await file.read(region, 0, region.length, start);
    yield batch.toReversed().map((one) => {
      const text = region.subarray(one.start - start, one.end - start);
      return asBuffer(createReceiptSplitter().push(text)[0]!.bytes);
    });
  }
}

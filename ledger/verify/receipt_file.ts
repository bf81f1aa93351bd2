import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { parseFields, readLink } from "../rules/mod.ts";
import { BadReceiptFile, createReceiptSplitter, type RawReceipt } from "./receipt_stream.ts";

/** A file of receipts: an answer of `/api/export`, one receipt a line, or an array, newest or oldest first. */
export interface ReceiptFile {
  /** Fields before the receipts. */
  readonly envelope: Readonly<Record<string, unknown>>;
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

const CHUNK_BYTES = 1 << 20;
const MAX_BATCH_SIZE = 500;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Opens a file and reads its beginning.
 *
 * @param options `isPart`: it may begin with any receipt
 * @throws {BadReceiptFile} there are no receipts in it, or not the first
 */
export async function openReceiptFile(
  path: string,
  { isPart = false }: { readonly isPart?: boolean } = {},
): Promise<ReceiptFile> {
  const file = await open(path);
  try {
    let envelope: Readonly<Record<string, unknown>> = {};
    const [first, second] = await readFirstReceipts(path, (fields) => envelope = fields);
    if (!isPart && Number(envelope.from) > 0) {
      throw new BadReceiptFile(
        `It begins at position ${envelope.from}, and not with the first receipt`,
      );
    }
    // The oldest receipt links to nothing. Where it is missing, the second receipt of the file links to the first.
    const newestFirst = previousHash(first) !== "" && !(second && follows(second, first));
    return {
      envelope,
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
  onEnvelope?: (fields: Readonly<Record<string, unknown>>) => void,
): AsyncGenerator<RawReceipt[]> {
  const splitter = createReceiptSplitter(onEnvelope);
  for await (const chunk of readChunks(path)) yield splitter.push(chunk);
  splitter.end();
}

/** Reads the first two receipts, or one where there is no second. @throws {BadReceiptFile} there is none */
async function readFirstReceipts(
  path: string,
  onEnvelope: (fields: Readonly<Record<string, unknown>>) => void,
): Promise<readonly [Buffer, Buffer?]> {
  let first: Buffer | undefined;
  try {
    for await (const receipts of readReceipts(path, onEnvelope)) {
      for (const { bytes } of receipts) {
        if (first) return [first, bytes];
        first = bytes;
      }
    }
  } catch (error) {
    if (!first) throw error; // else it is reported when all of it is read
  }
  if (first) return [first];
  throw new BadReceiptFile("There are no receipts in it");
}

function follows(receipt: Buffer, before: Buffer): boolean {
  const { hash_sha256 } = parseFields(before.toString());
  return readLink(receipt.toString()) === hash_sha256;
}

/** Returns the `prev_hash` of the first receipt. @throws {BadReceiptFile} it is not a receipt */
function previousHash(receipt: Buffer): unknown {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(receipt.toString());
  } catch {
    throw new BadReceiptFile("Its first receipt is not JSON");
  }
  if (typeof fields.id !== "string" || typeof fields.hash_sha256 !== "string") {
    throw new BadReceiptFile(
      "There are no receipts in it: the first object has no id or no hash_sha256",
    );
  }
  return fields.prev_hash;
}

async function* readForwards(path: string) {
  for await (const batch of groupReceipts(readReceipts(path))) {
    yield batch.map(({ bytes }) => bytes);
  }
}

/** Finds the offsets of all batches, then reads them from the last to the first. */
async function* readBackwards(file: FileHandle, path: string) {
  const ranges: { start: number; end: number }[] = [];
  for await (const batch of groupReceipts(readReceipts(path))) {
    ranges.push({ start: batch[0]!.start, end: batch.at(-1)!.end });
  }
  for (const { start, end } of ranges.toReversed()) {
    const region = Buffer.alloc(end - start);
    await file.read(region, 0, region.length, start);
    yield createReceiptSplitter().push(region).map(({ bytes }) => bytes).toReversed();
  }
}

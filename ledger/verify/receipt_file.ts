import { createHash } from "node:crypto";
import { parseFields, readLink } from "../rules/mod.ts";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { BadReceiptFile, createReceiptSplitter, type RawReceipt } from "./receipt_stream.ts";

/** A file of receipts: what `/api/export` gave, one receipt a line, or an array, newest or oldest first. */
export interface ReceiptFile {
  /** Fields that stand before the receipts. */
  readonly envelope: Readonly<Record<string, unknown>>;
  readonly newestFirst: boolean;
  /**
   * The receipts in batches, oldest first, each as JSON text without spaces between its tokens. Every call reads the file
   * anew; only one batch is in memory, and of a file that is newest first a number for each.
   *
   * @throws {BadReceiptFile} it holds something else, or ends too early
   */
  batches(): AsyncIterable<readonly Buffer[]>;
  close(): Promise<void>;
}

const CHUNK = 1 << 20;
const MOST_IN_A_BATCH = 500;
const MOST_BATCH_BYTES = 8 * 1024 * 1024;

/** Opens a file and looks at its beginning. @throws {BadReceiptFile} there are no receipts in it */
export async function openReceiptFile(path: string): Promise<ReceiptFile> {
  const file = await open(path);
  try {
    let envelope: Readonly<Record<string, unknown>> = {};
    const [first, second] = await firstReceipts(path, (fields) => envelope = fields);
    if (Number(envelope.from) > 0) {
      throw new BadReceiptFile(
        `It begins at position ${envelope.from}, and not with the first receipt`,
      );
    }
    // Nothing comes before the oldest one; where that is missing, the next one links to the first that is there.
    const newestFirst = previousHash(first) !== "" && !(second && follows(second, first));
    return {
      envelope,
      newestFirst,
      batches: () => newestFirst ? backwards(file, path) : forwards(path),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** SHA-256 of a file. */
export async function hashFile(path: string): Promise<Buffer> {
  const hash = createHash("sha256");
  for await (const chunk of chunksOf(path)) hash.update(chunk);
  return hash.digest();
}

/** Puts receipts together to batches that are bounded in number and in bytes. What came before a failure is given first. */
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
        if (batch.length < MOST_IN_A_BATCH && bytes < MOST_BATCH_BYTES) continue;
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

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>;
}

async function* receiptsOf(
  path: string,
  onEnvelope?: (fields: Readonly<Record<string, unknown>>) => void,
): AsyncGenerator<RawReceipt[]> {
  const splitter = createReceiptSplitter(onEnvelope);
  for await (const chunk of chunksOf(path)) yield splitter.push(chunk);
  splitter.end();
}

/** @returns one, where there are no two */
async function firstReceipts(
  path: string,
  onEnvelope: (fields: Readonly<Record<string, unknown>>) => void,
): Promise<readonly [Buffer, Buffer?]> {
  let first: Buffer | undefined;
  try {
    for await (const receipts of receiptsOf(path, onEnvelope)) {
      for (const { bytes } of receipts) {
        if (first) return [first, bytes];
        first = bytes;
      }
    }
  } catch (error) {
    if (!first) throw error; // else who reads all of it comes upon that
  }
  if (first) return [first];
  throw new BadReceiptFile("There are no receipts in it");
}

function follows(receipt: Buffer, before: Buffer): boolean {
  const { hash_sha256 } = parseFields(before.toString());
  return readLink(receipt.toString()) === hash_sha256;
}

/** What the first receipt says is before it. @throws {BadReceiptFile} it is none */
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

async function* forwards(path: string) {
  for await (const batch of groupReceipts(receiptsOf(path))) {
    yield batch.map(({ bytes }) => bytes);
  }
}

/** Notes where batches lie, and then reads them from the last to the first. */
async function* backwards(file: FileHandle, path: string) {
  const places: { start: number; end: number }[] = [];
  for await (const batch of groupReceipts(receiptsOf(path))) {
    places.push({ start: batch[0]!.start, end: batch.at(-1)!.end });
  }
  for (const { start, end } of places.toReversed()) {
    const region = Buffer.alloc(end - start);
    await file.read(region, 0, region.length, start);
    yield createReceiptSplitter().push(region).map(({ bytes }) => bytes).toReversed();
  }
}

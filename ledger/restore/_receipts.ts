import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import {
  collectKeys,
  type Place,
  readPosition,
  type TrustedKey,
  verifyRecord,
} from "../rules/mod.ts";
import { type BatchReceipt, type ChainHead, type SignerState } from "../signer/mod.ts";
import { openReceiptFile } from "../verify/mod.ts";
import { RestoreRefused } from "./errors.ts";

/** A receipt of an export that the database lacks. */
export interface MissingReceipt extends BatchReceipt {
  readonly position: number;
  readonly signature: Buffer;
  /** Key that made the signature. */
  readonly publicKey: Buffer;
}

/** Rows of the outbox are found by the receipts' ids. */
const NO_ROW = "0";
const MAX_BATCH_SIZE = 256;

/**
 * Verifies the receipts of an export that continue a chain, and groups them as they are appended.
 *
 * @param keys of the chain
 * @throws {RestoreRefused} one of them does not hold
 * @throws {BadReceiptFile} the file holds no receipts, or ends too early
 */
export async function* readMissing(
  path: string,
  head: ChainHead,
  keys: readonly TrustedKey[],
): AsyncGenerator<MissingReceipt[]> {
  const file = await openReceiptFile(path, { isPart: true });
  if (file.contradiction !== undefined) {
    await file.close();
    throw new RestoreRefused(`${path} contradicts itself: ${file.contradiction}`);
  }
  let place = toPlace(head);
  let batch: MissingReceipt[] = [];
  let trusted = keys; // and those that the receipts introduce, which verifying them proves
  try {
    reading: for await (const texts of file.batches()) {
      for (const bytes of texts) {
        const text = bytes.toString();
        const position = readPosition(text);
        if (position === undefined || position < place.position) continue;
        if (position > place.position) break reading; // another file may have those between
        trusted = collectKeys(trusted, text);
        const receipt = verify(path, text, place, trusted);
        place = toPlace({ size: position + 1, hash: receipt.hash });
        batch.push(receipt);
        if (batch.length < MAX_BATCH_SIZE) continue;
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  } finally {
    await file.close();
  }
}

function toPlace({ size, hash }: ChainHead): Place {
  const previousHash = hash?.toString("hex") ?? "";
  return size === 0
    ? { position: 0, previousHash }
    : { position: size, previousHash, previousEra: 3 };
}

function verify(
  path: string,
  text: string,
  place: Place,
  keys: readonly TrustedKey[],
): MissingReceipt {
  const { position } = place;
  const { verdict, era } = verifyRecord(text, place, keys, NODE_PRIMITIVES);
  if (!verdict.verified || era !== 3) {
    const why = verdict.reasons.join("; ") || `it is of era ${era}`;
    throw new RestoreRefused(`Receipt ${position} of ${path} does not hold: ${why}`);
  }
  const { id, category, canonical_bytes, hash_sha256, signature } = JSON.parse(text);
  return {
    position,
    id,
    category,
    seq: NO_ROW,
    record: Buffer.from(canonical_bytes, "hex"),
    hash: Buffer.from(hash_sha256, "hex"),
    signature: Buffer.from(signature.value, "hex"),
    publicKey: Buffer.from(signature.public_key, "hex"),
  };
}

/**
 * Compares receipts with what the signer remembers of their positions.
 *
 * @throws {RestoreRefused} it has signed other bytes there
 */
export function requireSigned(
  receipts: readonly MissingReceipt[],
  { committed, pending }: SignerState,
): void {
  for (const { position, hash, record } of receipts) {
    const isEnd = committed?.size === position + 1 && committed.hash !== null;
    const batch = pending.find(({ before, receipts }) =>
      position >= before.size && position < before.size + receipts.length
    );
    const signed = batch?.receipts[position - batch.before.size];
    if (isEnd && !hash.equals(committed.hash!) || signed && !signed.record.equals(record)) {
      throw new RestoreRefused(
        `Receipt ${position} of the export is not the one that was signed at this position: two ledgers have been ` +
          "signed with this key. Keep both as evidence",
      );
    }
  }
}

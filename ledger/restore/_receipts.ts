import { collectKeys, readPosition, type TrustedKey } from "../rules/mod.ts";
import { toPlace, verifyNext } from "../seal/mod.ts";
import type { ChainHead, CommittedReceipt, SignerState } from "../signer/mod.ts";
import { openReceiptFile } from "../verify/mod.ts";
import { RestoreRefused } from "./errors.ts";

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
): AsyncGenerator<CommittedReceipt[]> {
  const file = await openReceiptFile(path, { isPart: true });
  if (file.contradiction !== undefined) {
    await file.close();
    throw new RestoreRefused(`${path} contradicts itself: ${file.contradiction}`);
  }
  let place = toPlace(head);
  let batch: CommittedReceipt[] = [];
  let trusted = keys; // and those that the receipts introduce, which verifying them proves
  try {
    reading: for await (const texts of file.batches()) {
      for (const bytes of texts) {
        const text = bytes.toString();
        const position = readPosition(text);
        if (position === undefined || position < place.position) continue;
        if (position > place.position) break reading; // another file may have those between
        trusted = collectKeys(trusted, text);
        const receipt = verifyNext(
          text,
          place,
          trusted,
          (reason) => new RestoreRefused(`Receipt ${position} of ${path} ${reason}`),
        );
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

/**
 * Compares receipts with what the signer remembers of their positions.
 *
 * @throws {RestoreRefused} it has signed other bytes there
 */
export function requireSigned(
  receipts: readonly CommittedReceipt[],
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

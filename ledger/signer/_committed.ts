import type { Entry } from "./_entries.ts";
import type { Batch, BatchReceipt } from "./batch.ts";

/** A receipt that was committed, as the journal has kept it. Nobody has verified it since. */
export interface CommittedReceipt extends BatchReceipt {
  readonly position: number;
  readonly signature: Buffer;
  /** Key that made the signature. */
  readonly publicKey: Buffer;
}

/** Collects the receipts from a position on that a journal has kept, in order and without a gap. */
export async function collectCommitted(
  entries: AsyncIterable<Entry>,
  from: number,
): Promise<CommittedReceipt[]> {
  const batches = new Map<number, Batch>(); // by the number of receipts before it
  const found = new Map<number, CommittedReceipt>();
  for await (const entry of entries) {
    if (entry.type === "batch") batches.set(entry.batch.before.size, entry.batch);
    if (entry.type !== "committed") continue;
    for (const { size, publicKey, signatures } of entry.signed ?? []) {
      const receipts = batches.get(size)?.receipts ?? [];
      batches.delete(size);
      receipts.forEach((receipt, n) => {
        const [position, signature] = [size + n, signatures[n]];
        if (position >= from && signature) {
          found.set(position, { ...receipt, position, publicKey, signature });
        }
      });
    }
  }
  const receipts: CommittedReceipt[] = [];
  for (let next = found.get(from); next; next = found.get(from + receipts.length)) {
    receipts.push(next);
  }
  return receipts;
}

import { createHash } from "node:crypto";
import type { Batch, ChainHead } from "../../../ledger/signer/mod.ts";

/** The end of an empty chain. */
export const EMPTY: ChainHead = { size: 0, hash: null };

/** Returns a batch of so many receipts after an end of the chain. @param text of each of them */
export function makeBatch(before: ChainHead, count: number, text = "text"): Batch {
  const receipts = Array.from({ length: count }, (_, n) => {
    const record = Buffer.from(JSON.stringify({ position: before.size + n, text }));
    return {
      id: `receipt-${before.size + n}`,
      category: "test",
      seq: String(before.size + n + 1),
      record,
      hash: createHash("sha256").update(record).digest(),
    };
  });
  return { before, receipts };
}

import { exportReceipts, listLedgerKeys, verifyChain } from "../ledger/mod.ts";
import type { Store } from "../store/mod.ts";

/** Verifies the whole chain. @returns how many breaks it has */
export async function countBreaks(store: Store): Promise<number> {
  const receipts = await exportReceipts(store, { from: 0, to: Number.MAX_SAFE_INTEGER });
  const { breaks } = await verifyChain(
    receipts.map(({ text }) => text),
    await listLedgerKeys(store),
  );
  return breaks.length;
}

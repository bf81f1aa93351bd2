import { ReceiptConflict, requestSeal, type SealRequest } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { openAct } from "../../store/acts/mod.ts";

/**
 * Seals the intent of an act, and notes that it is open. Safe to repeat: the receipt tells the run.
 *
 * @param act undefined: another row tells that it is open
 * @returns false where another run had the intent before; it may have acted
 */
export async function intendOnce(
  db: Db,
  receipt: SealRequest,
  act?: Parameters<typeof openAct>[1],
): Promise<boolean> {
  try {
    await db.transaction(async (trx) => {
      await requestSeal(trx, receipt);
      if (act) await openAct(trx, act);
    });
    return true;
  } catch (error) {
    if (error instanceof ReceiptConflict) return false;
    throw error;
  }
}

import type { Store } from "../../store/mod.ts";
import { sha256 } from "../crypto/mod.ts";
import type { Checkpoint } from "../notes/mod.ts";
import { exportReceipts, getHead, listLedgerKeys } from "../receipts/mod.ts";
import { createTreeCheck } from "../trust/mod.ts";
import { verifyInParallel } from "../verify/mod.ts";
import { RestoreRefused } from "./errors.ts";

const PAGE_SIZE = 500;

/**
 * Verifies all receipts of the database, and that they begin with those of a checkpoint.
 *
 * @throws {RestoreRefused} they don't
 */
export async function verifyDatabase(
  store: Store,
  signed: Checkpoint,
  onProgress: (count: number) => void,
): Promise<void> {
  const tree = createTreeCheck([signed], sha256);
  const { size } = await getHead(store);
  async function* batches() {
    for (let from = 0; from < size; from += PAGE_SIZE) {
      const page = await exportReceipts(store, { from, to: Math.min(size, from + PAGE_SIZE) });
      yield page.map(({ text }) => Buffer.from(text));
    }
  }
  const { firstBreaks: [first], total } = await verifyInParallel(
    batches(),
    await listLedgerKeys(store),
    { onProgress, onLeaves: tree.add },
  );
  const [unlike] = [...tree.differing(), ...tree.missing()];
  const problem = unlike ?? first ??
    (total === size ? undefined : { position: total, reason: "Missing" });
  if (problem) {
    throw new RestoreRefused(
      `The receipts of the database do not hold at position ${problem.position}: ${problem.reason}`,
    );
  }
}

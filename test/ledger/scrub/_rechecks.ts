/** Sealing beside rechecks of the whole chain. */
import { rm } from "node:fs/promises";
import { type ChainState, watchChain } from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { startSealing } from "../_ledger.ts";
import { openSlowNetwork } from "./_slow_network.ts";

/** Rechecks, and how the chain looked meanwhile. */
export interface RecheckCounts {
  readonly sealed: number;
  readonly rechecks: number;
  /** Number of rechecks during which receipts were sealed. */
  readonly overlapping: number;
  /** Number of rechecks that did not verify each receipt once. */
  readonly partial: number;
  /** Breaks that were reported, though there are none. */
  readonly falseBreaks: readonly ChainState["first_breaks"][number][];
}

/** Receipts that are sealed at once. */
const BATCH = 5;

/**
 * Seals receipts one batch after another on a new ledger, while its public watch verifies them, and the whole chain again
 * and again. The watch reads the database over a network that delays each answer by another time.
 *
 * @param isEnough called after each batch with what was counted so far
 */
export async function countRechecks(
  isEnough: (counts: RecheckCounts) => boolean,
): Promise<RecheckCounts> {
  const sealing = await startSealing();
  const network = await openSlowNetwork(sealing.database.urls.ledger);
  const ledger = openStore(network.url, "ledger");
  let [sealed, rechecks, overlapping, partial, sealedAtLast] = [0, 0, 0, 0, 0];
  let falseBreaks: RecheckCounts["falseBreaks"] = [];
  const chain = await watchChain(ledger, {
    recheckEveryMs: 1,
    onRecheck({ size, verified }) {
      rechecks++;
      if (verified !== size) partial++;
      if (sealed > sealedAtLast) overlapping++;
      sealedAtLast = sealed;
    },
  });
  const counts = () => ({ sealed, rechecks, overlapping, partial, falseBreaks });
  try {
    while (!isEnough(counts())) {
      await sealing.seal(BATCH);
      sealed += BATCH;
      const { first_breaks } = await chain.catchUp();
      if (falseBreaks.length === 0) falseBreaks = first_breaks;
    }
    const { first_breaks, chain_intact } = await chain.catchUp();
    if (falseBreaks.length === 0) falseBreaks = first_breaks;
    if (chain_intact !== true && falseBreaks.length === 0) throw new Error("It is not verified");
    return counts();
  } finally {
    await chain.close();
    await ledger.close();
    await network.close();
    await sealing.stop();
    await rm(sealing.folder, { recursive: true, force: true });
  }
}

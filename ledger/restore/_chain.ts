import type pg from "pg";
import type { Store } from "../../store/mod.ts";
import { sha256 } from "../crypto/mod.ts";
import type { Checkpoint } from "../notes/mod.ts";
import { exportReceipts, getHead, listLedgerKeys } from "../receipts/mod.ts";
import { isSuccession } from "../rules/mod.ts";
import { appendReceipts, settleRequests } from "../seal/mod.ts";
import { type ChainHead, getHeadAfter } from "../signer/mod.ts";
import { createTreeCheck } from "../trust/mod.ts";
import { verifyInParallel } from "../verify/mod.ts";
import { RestoreRefused } from "./errors.ts";
import type { MissingReceipt } from "./_receipts.ts";

/** Appends receipts that were verified. @returns the end of the chain with them */
export async function appendMissing(
  client: pg.ClientBase,
  head: ChainHead,
  receipts: readonly MissingReceipt[],
): Promise<ChainHead> {
  let before = head;
  for (const run of groupByKey(receipts)) {
    const batch = { before, receipts: run };
    const signed = {
      publicKey: run[0]!.publicKey,
      signatures: run.map(({ signature }) => signature),
    };
    await appendReceipts(client, batch, signed, []);
    await settleRequests(client, batch);
    before = getHeadAfter(batch);
  }
  return before;
}

/** Groups receipts by the key that signed them. Those that introduce keys are appended one by one. */
function groupByKey(receipts: readonly MissingReceipt[]): MissingReceipt[][] {
  const runs: MissingReceipt[][] = [];
  for (const receipt of receipts) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const isAlone = isSuccession(receipt.category) || last && isSuccession(last.category);
    if (run && !isAlone && last!.publicKey.equals(receipt.publicKey)) run.push(receipt);
    else runs.push([receipt]);
  }
  return runs;
}

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

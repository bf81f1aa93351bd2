import { type Db, type Store } from "../../store/mod.ts";
import { nativeSha256, readLeaves } from "./anchors.ts";
import { SUBTREE_SIZE, treeRoot } from "./ots/mod.ts";

/** A batch by the positions of its first and last receipt. */
export interface BatchRange {
  readonly first: number;
  readonly last: number;
}

/** Category of the receipt that says that a batch is in a block. */
export const ANCHOR_CONFIRMED = "anchor_confirmed";

/** Most receipts of a batch. */
const MOST_IN_BATCH = SUBTREE_SIZE * SUBTREE_SIZE;
/** Batches that may wait for Bitcoin at once; beyond that, receipts wait for a larger batch. */
const MOST_UNFINISHED = 24;

/**
 * Makes batches of the receipts since the last one: none where there are no receipts, or only such as speak of anchors
 * themselves, or where a batch that is not full has been taken by no calendar yet. Safe to repeat, and by several at
 * once: each receipt is in one batch.
 *
 * @returns every batch that is not confirmed, oldest first
 */
export async function openAnchors(store: Store): Promise<BatchRange[]> {
  while (await openNext(store));
  const { rows } = await store.pool.query(
    "SELECT first, last FROM anchors WHERE state <> 'confirmed' ORDER BY first",
  );
  return rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
}

/** @returns whether there may be more to make */
async function openNext(store: Store): Promise<boolean> {
  return await store.asPlatform().transaction(async (trx) => {
    const { rows: [{ next_position }] } = await trx.raw(
      "SELECT next_position FROM anchor_head FOR UPDATE",
    );
    const { rows: [{ unfinished, waits }] } = await trx.raw(
      `SELECT count(*)::int AS unfinished, coalesce(bool_or(state = 'open' AND last - first + 1 < ?), false) AS waits
       FROM anchors WHERE state <> 'confirmed'`,
      [MOST_IN_BATCH],
    );
    if (waits || unfinished >= MOST_UNFINISHED) return false;
    const batch = await nextBatch(trx, Number(next_position));
    if (batch) await insertBatch(trx, store, batch);
    return batch !== undefined;
  });
}

async function nextBatch(on: Db, first: number): Promise<BatchRange | undefined> {
  const { rows: [{ size, worth }] } = await on.raw(
    `SELECT size, EXISTS (
       SELECT 1 FROM receipts WHERE position >= ? AND category <> ?) AS worth FROM ledger_head`,
    [first, ANCHOR_CONFIRMED],
  );
  if (!worth) return undefined;
  return { first, last: Math.min(Number(size), first + MOST_IN_BATCH) - 1 };
}

async function insertBatch(on: Db, store: Store, { first, last }: BatchRange): Promise<void> {
  const subroots: Uint8Array[] = [];
  for (let from = first; from <= last; from += SUBTREE_SIZE) {
    const leaves = await readLeaves(store, { from, to: Math.min(from + SUBTREE_SIZE, last + 1) });
    subroots.push(treeRoot(leaves, nativeSha256));
  }
  const root = Buffer.from(treeRoot(subroots, nativeSha256));
  await on("anchors").insert({ first, last, root, subroots: Buffer.concat(subroots) });
  await on("anchor_head").update({ next_position: last + 1 });
}

import type { Db, Store } from "../../store/mod.ts";
import { SUBTREE_SIZE, treeRoot } from "./ots/mod.ts";
import { listLeaves, nativeSha256 } from "./proof.ts";

/** Positions of the first and last receipt of a batch. */
export interface BatchRange {
  readonly first: number;
  readonly last: number;
}

/** Category of the receipts that say that a batch is in a block. */
export const ANCHOR_CONFIRMED = "anchor_confirmed";

/** Maximum receipts of a batch. */
const MAX_BATCH_SIZE = SUBTREE_SIZE * SUBTREE_SIZE;
/** Maximum batches that wait for Bitcoin. When there are as many, new receipts wait for a later, larger batch. */
const MAX_UNFINISHED = 24;

/**
 * Puts the receipts since the last batch into new ones. Makes none if the new receipts only speak of anchors, or if
 * no calendar has accepted the last batch yet and it is not full. Safe to repeat and to run in parallel: a
 * receipt is in one batch only.
 *
 * @returns all batches that are not confirmed, oldest first
 */
export async function openAnchors(store: Store): Promise<BatchRange[]> {
  const db = store.asPlatform();
  while (await openNextBatch(db));
  const rows = await db.query(
    "SELECT first, last FROM anchors WHERE state <> 'confirmed' ORDER BY first",
  );
  return rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
}

/** Opens a batch. @returns false if there was nothing to put into one */
async function openNextBatch(db: Db): Promise<boolean> {
  return await db.transaction(async (trx) => {
    const head = await trx.first("SELECT next_position FROM anchor_head FOR UPDATE");
    const unfinished = await trx.first(
      `SELECT count(*)::int AS count,
         coalesce(bool_or(state = 'open' AND last - first + 1 < $1), false) AS is_waiting
       FROM anchors WHERE state <> 'confirmed'`,
      [MAX_BATCH_SIZE],
    );
    if (unfinished!.is_waiting || unfinished!.count >= MAX_UNFINISHED) return false;
    const batch = await nextBatch(trx, Number(head!.next_position));
    if (batch) await insertBatch(trx, batch);
    return batch !== undefined;
  });
}

async function nextBatch(trx: Db, first: number): Promise<BatchRange | undefined> {
  const row = await trx.first(
    `SELECT size, EXISTS (SELECT 1 FROM receipts WHERE position >= $1 AND category <> $2) AS is_needed
     FROM ledger_head`,
    [first, ANCHOR_CONFIRMED],
  );
  if (!row!.is_needed) return undefined;
  return { first, last: Math.min(Number(row!.size), first + MAX_BATCH_SIZE) - 1 };
}

async function insertBatch(trx: Db, { first, last }: BatchRange): Promise<void> {
  const subroots: Uint8Array[] = [];
  for (let from = first; from <= last; from += SUBTREE_SIZE) {
    const leaves = await listLeaves(trx, { from, to: Math.min(from + SUBTREE_SIZE, last + 1) });
    subroots.push(treeRoot(leaves, nativeSha256));
  }
  await trx.execute("INSERT INTO anchors (first, last, root, subroots) VALUES ($1, $2, $3, $4)", [
    first,
    last,
    treeRoot(subroots, nativeSha256),
    Buffer.concat(subroots),
  ]);
  await trx.execute("UPDATE anchor_head SET next_position = $1", [last + 1]);
}

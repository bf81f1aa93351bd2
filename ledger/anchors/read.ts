import type { Row, Store } from "../../store/mod.ts";

/** A batch of receipts with a common root, and the progress of its timestamp. */
export interface Anchor {
  /** Position of its first receipt; identifies the batch. */
  readonly first: number;
  /** Position of its last receipt. */
  readonly last: number;
  /** Hex. */
  readonly root: string;
  /** `open`: no calendar has accepted it; `pending`: not in a block that counts; `confirmed`: its block counts. */
  readonly state: "open" | "pending" | "confirmed";
  /** Why the last attempt did not confirm it. */
  readonly lastError: string | null;
  readonly attempts: number;
  readonly openedAt: Date;
  readonly submittedAt: Date | null;
  readonly block: AnchorBlock | null;
}

/** The Bitcoin block that a batch is in. */
interface AnchorBlock {
  readonly height: number;
  /** Hex in display order: last byte first. */
  readonly hash: string;
  /** 80 bytes, hex. */
  readonly header: string;
  readonly time: Date;
}

/** A batch that is in a block. */
export interface ConfirmedAnchor extends Anchor {
  readonly block: AnchorBlock;
  /** Id of its last receipt. */
  readonly lastId: string;
}

/** Totals over all batches. */
export interface AnchorTotals {
  /** The first receipt that is in no batch. */
  readonly nextPosition: number;
  readonly confirmedBatches: number;
  readonly anchoredReceipts: number;
}

/** Positions of receipts. */
export interface PositionRange {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const COLUMNS = `first, last, encode(root, 'hex') AS root, state, last_error, attempts, opened_at,
  submitted_at, block_height, block_hash, encode(block_header, 'hex') AS block_header, block_time`;

/** Reads the totals, which are kept in one row. */
export async function getAnchorTotals(store: Store): Promise<AnchorTotals> {
  const row = await store.asPlatform().first(
    "SELECT next_position, confirmed, anchored_receipts FROM anchor_head",
  );
  return {
    nextPosition: Number(row!.next_position),
    confirmedBatches: Number(row!.confirmed),
    anchoredReceipts: Number(row!.anchored_receipts),
  };
}

/** Lists the batches that contain receipts of a range, oldest first. */
export async function listAnchors(store: Store, { from, to }: PositionRange): Promise<Anchor[]> {
  const rows = await store.asPlatform().query(
    // Batches do not overlap, so the one with `from` is the last that begins there or before: the index finds it.
    `SELECT ${COLUMNS} FROM anchors
     WHERE first < $2 AND last >= $1
       AND first >= (SELECT coalesce(max(first), 0) FROM anchors WHERE first <= $1)
     ORDER BY first`,
    [from, to],
  );
  return rows.map(toAnchor);
}

/** Finds the batch of a receipt. @returns undefined while the receipt is in no batch */
export async function findAnchor(store: Store, position: number): Promise<Anchor | undefined> {
  return (await listAnchors(store, { from: position, to: position + 1 }))[0];
}

/** Lists the batches that are not confirmed, oldest first. */
export async function listUnfinishedAnchors(store: Store): Promise<Anchor[]> {
  const rows = await store.asPlatform().query(
    `SELECT ${COLUMNS} FROM anchors WHERE state <> 'confirmed' ORDER BY first`,
  );
  return rows.map(toAnchor);
}

/** Lists confirmed batches, newest block first. @param limit > 0 */
export async function listConfirmedAnchors(
  store: Store,
  limit: number,
): Promise<ConfirmedAnchor[]> {
  const rows = await store.asPlatform().query(
    `SELECT ${COLUMNS}, (SELECT id FROM receipts WHERE position = last) AS last_id
     FROM anchors WHERE state = 'confirmed' ORDER BY block_height DESC, first DESC LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ ...toAnchor(row), block: toBlock(row), lastId: row.last_id }));
}

function toAnchor(row: Row): Anchor {
  return {
    first: Number(row.first),
    last: Number(row.last),
    root: row.root,
    state: row.state,
    lastError: row.last_error,
    attempts: row.attempts,
    openedAt: row.opened_at,
    submittedAt: row.submitted_at,
    block: row.block_height === null ? null : toBlock(row),
  };
}

function toBlock(row: Row): AnchorBlock {
  return {
    height: Number(row.block_height),
    hash: row.block_hash,
    header: row.block_header,
    time: row.block_time,
  };
}

import { hash } from "node:crypto";
import { Problem } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import {
  applyOp,
  type Op,
  parseTimestamp,
  prependOps,
  serializeFile,
  type Sha256,
  SUBTREE_SIZE,
  type Timestamp,
  treePath,
} from "./ots/mod.ts";

/** A batch of receipts with a common root, and how far its timestamp is. */
export interface Anchor {
  /** Position of its first receipt, which names it. */
  readonly first: number;
  /** Position of its last receipt. */
  readonly last: number;
  /** Hex. */
  readonly root: string;
  /** `open`: no calendar has taken it; `pending`: not confirmed yet; `confirmed`: its block counts. */
  readonly state: "open" | "pending" | "confirmed";
  /** Why it is not confirmed yet, in words. */
  readonly lastError: string | null;
  readonly attempts: number;
  readonly openedAt: Date;
  readonly submittedAt: Date | null;
  readonly block: AnchorBlock | null;
}

/** The Bitcoin block in which a batch is. */
export interface AnchorBlock {
  readonly height: number;
  /** Hex, as it is shown: last byte first. */
  readonly hash: string;
  /** 80 bytes, hex. */
  readonly header: string;
  readonly time: Date;
}

/** How far anchoring is. */
export interface AnchorTotals {
  /** First receipt that is in no batch yet. */
  readonly nextPosition: number;
  readonly confirmedBatches: number;
  readonly anchoredReceipts: number;
}

const COLUMNS = `first, last, encode(root, 'hex') AS root, state, last_error, attempts, opened_at,
  submitted_at, block_height, block_hash, encode(block_header, 'hex') AS block_header, block_time`;

/** Node's own SHA-256, faster than the portable one. */
export const nativeSha256: Sha256 = (bytes) => hash("sha256", bytes, "buffer");

/** Totals, from the one row that is kept of them. */
export async function readAnchorTotals({ pool }: Store): Promise<AnchorTotals> {
  const { rows: [row] } = await pool.query({
    name: "anchor_totals",
    text: "SELECT next_position, confirmed, anchored_receipts FROM anchor_head",
  });
  return {
    nextPosition: Number(row.next_position),
    confirmedBatches: Number(row.confirmed),
    anchoredReceipts: Number(row.anchored_receipts),
  };
}

/**
 * Batches that hold receipts of a range, oldest first.
 *
 * @param range positions; `from` inclusive, `to` exclusive
 */
export async function listAnchors(
  { pool }: Store,
  range: { readonly from: number; readonly to: number },
): Promise<Anchor[]> {
  const { rows } = await pool.query({
    name: "anchors_of",
    text: `SELECT ${COLUMNS} FROM anchors WHERE first < $2 AND last >= $1
             AND first >= (SELECT coalesce(max(first), 0) FROM anchors WHERE first <= $1)
           ORDER BY first`,
    values: [range.from, range.to],
  });
  return rows.map(fromRow);
}

/** The batch of a receipt, or undefined where it waits for the next one. */
export async function findAnchor(store: Store, position: number): Promise<Anchor | undefined> {
  return (await listAnchors(store, { from: position, to: position + 1 }))[0];
}

/** Batches that are not confirmed, oldest first. */
export async function listUnfinishedAnchors({ pool }: Store): Promise<Anchor[]> {
  const { rows } = await pool.query(
    `SELECT ${COLUMNS} FROM anchors WHERE state <> 'confirmed' ORDER BY first`,
  );
  return rows.map(fromRow);
}

/** A batch that is in a block. */
export interface ConfirmedAnchor extends Anchor {
  readonly block: AnchorBlock;
  /** Id of its last receipt. */
  readonly lastId: string;
}

/** Confirmed batches, newest block first. @param limit > 0 */
export async function listConfirmedAnchors(
  { pool }: Store,
  limit: number,
): Promise<ConfirmedAnchor[]> {
  const { rows } = await pool.query(
    `SELECT ${COLUMNS}, (SELECT id FROM receipts WHERE position = last) AS last_id
     FROM anchors WHERE state = 'confirmed' ORDER BY block_height DESC, first DESC LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ ...fromRow(row), block: blockOf(row), lastId: row.last_id }));
}

/** What receipts of a range are anchored by: SHA-256 of the bytes that `/api/receipt/{id}.bin` gives, oldest first. */
export async function readLeaves(
  { pool }: Store,
  range: { readonly from: number; readonly to: number },
): Promise<Uint8Array[]> {
  const { rows: [{ leaves }] } = await pool.query({
    name: "anchor_leaves", // as one value, since a row for each takes many times as long
    text:
      `SELECT string_agg(CASE WHEN era = 3 THEN hash ELSE sha256(record) END, '' ORDER BY position) AS leaves
           FROM receipts WHERE position >= $1 AND position < $2`,
    values: [range.from, range.to],
  });
  return splitDigests(leaves ?? Buffer.alloc(0));
}

/** The bytes of a receipt that its proof is about: what was signed in era 3, the stored record before. */
export async function readReceiptBytes({ pool }: Store, position: number): Promise<Uint8Array> {
  const { rows: [row] } = await pool.query("SELECT record FROM receipts WHERE position = $1", [
    position,
  ]);
  return row.record;
}

/**
 * The proof file of one receipt: from its own digest up the tree of its batch, and on to what is known of the root.
 *
 * @throws {Problem} `NotFound`: it is in no batch that a calendar has taken; `Conflict`: the batch's receipts no longer
 * give the root that was anchored
 */
export async function buildReceiptProof(
  store: Store,
  { id, position }: { readonly id: string; readonly position: number },
): Promise<Uint8Array> {
  const { rows: [batch] } = await store.pool.query({
    name: "anchor_proof",
    text: `SELECT first, last, root, subroots, proof FROM anchors
           WHERE first = (SELECT max(first) FROM anchors WHERE first <= $1) AND last >= $1`,
    values: [position],
  });
  if (!batch?.proof) {
    const what = batch ? "no calendar has taken its batch yet" : "it is in no batch yet";
    throw new Problem("NotFound", `Receipt ${id} has no proof, as ${what}; ask again later`);
  }
  const index = position - Number(batch.first);
  const from = Number(batch.first) + index - index % SUBTREE_SIZE;
  const to = Math.min(from + SUBTREE_SIZE, Number(batch.last) + 1);
  const leaves = await readLeaves(store, { from, to });
  const digest = leaves[index % SUBTREE_SIZE];
  const path: Op[] = [
    ...treePath(leaves, index % SUBTREE_SIZE, nativeSha256),
    ...treePath(splitDigests(batch.subroots), Math.floor(index / SUBTREE_SIZE), nativeSha256),
  ];
  if (!digest || !leadsTo(batch.root, digest, path)) throw changed(id);
  const timestamp: Timestamp = prependOps(path, parseTimestamp(batch.proof, batch.root.length));
  return serializeFile({ hash: "sha256", digest: new Uint8Array(digest), timestamp });
}

const leadsTo = (root: Buffer, leaf: Uint8Array, path: readonly Op[]) =>
  root.equals(path.reduce<Uint8Array>((message, op) => applyOp(op, message), leaf));

const changed = (id: string) =>
  new Problem(
    "Conflict",
    `Receipt ${id} or one of its batch was changed after it was anchored: they no longer give the root`,
  );

/** Cuts joined digests apart. */
export function splitDigests(joined: Buffer): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0; at < joined.length; at += 32) all.push(joined.subarray(at, at + 32));
  return all;
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): Anchor {
  const { root, state, attempts } = row;
  return {
    ...{ root, state, attempts },
    first: Number(row.first),
    last: Number(row.last),
    lastError: row.last_error,
    openedAt: row.opened_at,
    submittedAt: row.submitted_at,
    block: row.block_height === null ? null : blockOf(row),
  };
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
const blockOf = (row: any): AnchorBlock => ({
  height: Number(row.block_height),
  hash: row.block_hash,
  header: row.block_header,
  time: row.block_time,
});

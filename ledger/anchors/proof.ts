import { hash } from "node:crypto";
import { Problem } from "../../contract/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import {
  applyOp,
  type Op,
  parseTimestamp,
  prependOps,
  serializeProof,
  type Sha256,
  SUBTREE_SIZE,
  treePath,
} from "./ots/mod.ts";
import type { PositionRange } from "./read.ts";

/** Node's SHA-256; it is faster than the portable one. */
export const nativeSha256: Sha256 = (bytes) => hash("sha256", bytes, "buffer");

/**
 * Reads the leaves of the anchored tree, oldest first: for each receipt the SHA-256 of the bytes that
 * {@linkcode getReceiptBytes} returns.
 */
export async function listLeaves(db: Db, { from, to }: PositionRange): Promise<Uint8Array[]> {
  const rows = await db.query(
    `SELECT CASE WHEN era = 3 THEN hash ELSE sha256(record) END AS leaf
     FROM receipts WHERE position >= $1 AND position < $2 ORDER BY position`,
    [from, to],
  );
  return rows.map(({ leaf }) => leaf);
}

/** Reads the bytes of a receipt that its proof is about: the signed bytes in era 3, the stored record before. */
export async function getReceiptBytes(store: Store, position: number): Promise<Uint8Array> {
  const row = await store.asPlatform().first("SELECT record FROM receipts WHERE position = $1", [
    position,
  ]);
  return row!.record;
}

/**
 * Builds the proof file of a receipt: from its digest up the tree of its batch, and on to what attests the root.
 *
 * @throws {Problem} `NotFound`: it is in no batch that a calendar has accepted; `Conflict`: the receipts of its batch no
 * longer give the anchored root
 */
export async function buildReceiptProof(
  store: Store,
  { id, position }: { readonly id: string; readonly position: number },
): Promise<Uint8Array> {
  const db = store.asPlatform();
  const batch = await db.first(
    `SELECT first, last, root, subroots, proof FROM anchors
     WHERE first = (SELECT max(first) FROM anchors WHERE first <= $1) AND last >= $1`,
    [position],
  );
  if (!batch?.proof) {
    const reason = batch ? "no calendar has accepted its batch yet" : "it is in no batch yet";
    throw new Problem("NotFound", `Receipt ${id} has no proof: ${reason}; try again later`);
  }
  const index = position - Number(batch.first);
  const from = Number(batch.first) + index - index % SUBTREE_SIZE;
  const to = Math.min(from + SUBTREE_SIZE, Number(batch.last) + 1);
  const leaves = await listLeaves(db, { from, to });
  const digest = leaves[index % SUBTREE_SIZE];
  const subroots = splitDigests(batch.subroots);
  const path: Op[] = [
    ...treePath(leaves, index % SUBTREE_SIZE, nativeSha256),
    ...treePath(subroots, Math.floor(index / SUBTREE_SIZE), nativeSha256),
  ];
  if (!digest || !leadsTo(batch.root, digest, path)) {
    throw new Problem(
      "Conflict",
      `Cannot prove receipt ${id}: a receipt of its batch was changed after it was anchored`,
    );
  }
  const timestamp = prependOps(path, parseTimestamp(batch.proof, batch.root.length));
  return serializeProof({ hash: "sha256", digest: new Uint8Array(digest), timestamp });
}

function leadsTo(root: Buffer, leaf: Uint8Array, path: readonly Op[]): boolean {
  return root.equals(path.reduce<Uint8Array>((message, op) => applyOp(op, message), leaf));
}

/** Splits concatenated 32-byte digests. */
export function splitDigests(joined: Buffer): Buffer[] {
  return Array.from(
    { length: Math.ceil(joined.length / 32) },
    (_, n) => joined.subarray(32 * n, 32 * n + 32),
  );
}

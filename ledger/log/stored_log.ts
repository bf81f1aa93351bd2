import { computeLeafHash } from "../crypto/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { type ReadHashes, TILE_WIDTH } from "./tiles.ts";
import { exportReceipts } from "../receipts/mod.ts";
import type { Store } from "../../store/mod.ts";

/** The newest checkpoint that was published. */
export interface PublishedCheckpoint {
  readonly size: number;
  readonly root: Buffer;
  /** The signed note, cosignatures included. */
  readonly note: string;
  readonly verifierKey: string;
}

/** Reads it; undefined: none has been signed yet. */
export async function getPublishedCheckpoint(
  { pool }: Store,
): Promise<PublishedCheckpoint | undefined> {
  const { rows: [row] } = await pool.query({
    name: "log_checkpoint",
    text: "SELECT size, root, note, verifier_key FROM log_checkpoint",
  });
  return row && {
    size: Number(row.size),
    root: row.root,
    note: row.note,
    verifierKey: row.verifier_key,
  };
}

/** How many leaves are in full tiles. */
export async function countTiledLeaves({ pool }: Store): Promise<number> {
  const { rows: [row] } = await pool.query("SELECT max(n) AS n FROM log_tiles WHERE level = 0");
  return row.n === null ? 0 : (Number(row.n) + 1) * TILE_WIDTH;
}

/**
 * Gives hashes of the log: of a full tile as it is stored, else of the leaves or of the full tiles below.
 *
 * @throws {RangeError} there are none
 */
export function createHashReader(store: Store): ReadHashes {
  return async (level, from, to) => {
    const first = from % TILE_WIDTH;
    const tile = await fullTile(store, level, (from - first) / TILE_WIDTH);
    if (tile) return tile.slice(first, first + to - from);
    const found = level === 0
      ? await leafHashes(store, from, to)
      : await tileRoots(store, level - 1, from, to);
    if (found.length === to - from) return found;
    throw new RangeError(`The log has no hashes ${from} to ${to - 1} at level ${level}`);
  };
}

/** Hashes of a full tile; undefined: it is not full. */
async function fullTile({ pool }: Store, level: number, n: number): Promise<Hash[] | undefined> {
  const { rows: [row] } = await pool.query({
    name: "log_tile",
    text: "SELECT hashes FROM log_tiles WHERE level = $1 AND n = $2",
    values: [level, n],
  });
  if (!row) return undefined;
  return Array.from({ length: TILE_WIDTH }, (_, at) => row.hashes.subarray(at * 32, at * 32 + 32));
}

async function leafHashes(store: Store, from: number, to: number): Promise<Hash[]> {
  return (await exportReceipts(store, { from, to })).map(computeLeafHash);
}

async function tileRoots({ pool }: Store, level: number, from: number, to: number) {
  const { rows } = await pool.query({
    name: "log_roots",
    text: "SELECT root FROM log_tiles WHERE level = $1 AND n >= $2 AND n < $3 ORDER BY n",
    values: [level, from, to],
  });
  return rows.map((row): Hash => row.root);
}

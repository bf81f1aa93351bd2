import type { Store } from "../../store/mod.ts";
import { computeLeafHash } from "../crypto/mod.ts";
import { exportReceipts } from "../receipts/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { type ReadHashes, type Tile, TILE_WIDTH } from "./tiles.ts";

/** The newest checkpoint that was published. */
export interface PublishedCheckpoint {
  readonly size: number;
  readonly root: Buffer;
  /** The signed note, cosignatures included. */
  readonly note: string;
  readonly verifierKey: string;
}

const GET_CHECKPOINT = {
  name: "log_checkpoint",
  text: "SELECT size, root, note, verifier_key FROM log_checkpoint",
};
const PUBLISH = {
  name: "log_publish",
  text: `INSERT INTO log_checkpoint (size, root, note, verifier_key) VALUES ($1, $2, $3, $4)
         ON CONFLICT (one) DO UPDATE SET size = excluded.size, root = excluded.root,
           note = excluded.note, verifier_key = excluded.verifier_key, signed_at = now()`,
};
const GET_TILE = {
  name: "log_tile",
  text: "SELECT hashes FROM log_tiles WHERE level = $1 AND n = $2",
};
const LIST_TILE_ROOTS = {
  name: "log_roots",
  text: "SELECT root FROM log_tiles WHERE level = $1 AND n >= $2 AND n < $3 ORDER BY n",
};
const STORE_TILES = {
  name: "log_tiles",
  text: `INSERT INTO log_tiles (level, n, hashes, root)
         SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bytea[])
         ON CONFLICT (level, n) DO NOTHING`,
};

/** Returns the newest published checkpoint, or undefined where none has been signed yet. */
export async function getPublishedCheckpoint(
  store: Store,
): Promise<PublishedCheckpoint | undefined> {
  const row = await store.asPlatform().first(GET_CHECKPOINT);
  return row && {
    size: Number(row.size),
    root: row.root,
    note: row.note,
    verifierKey: row.verifier_key,
  };
}

/** Publishes a checkpoint in place of the one before. */
export async function publishCheckpoint(
  store: Store,
  { size, root, note, verifierKey }: PublishedCheckpoint,
): Promise<void> {
  await store.asPlatform().execute(PUBLISH, [size, root, note, verifierKey]);
}

/** Returns how many leaves are in full tiles. */
export async function countTiledLeaves(store: Store): Promise<number> {
  const row = await store.asPlatform().first("SELECT max(n) AS n FROM log_tiles WHERE level = 0");
  return row!.n === null ? 0 : (Number(row!.n) + 1) * TILE_WIDTH;
}

/** Stores full tiles. Those that are stored already stay. */
export async function storeTiles(store: Store, tiles: readonly Tile[]): Promise<void> {
  if (tiles.length === 0) return;
  await store.asPlatform().execute(STORE_TILES, [
    tiles.map(({ level }) => level),
    tiles.map(({ n }) => n),
    tiles.map(({ hashes }) => Buffer.concat(hashes)),
    tiles.map(({ root }) => Buffer.from(root)),
  ]);
}

/**
 * Creates the reader of the log's hashes: from full tiles as they are stored, else from receipts or the tiles below.
 *
 * The reader throws a `RangeError` where the log has no such hashes.
 */
export function createHashReader(store: Store): ReadHashes {
  return async (level, from, to) => {
    const first = from % TILE_WIDTH;
    const tile = await getFullTile(store, level, (from - first) / TILE_WIDTH);
    if (tile) return tile.slice(first, first + to - from);
    const hashes = level === 0
      ? await computeLeafHashes(store, from, to)
      : await listTileRoots(store, level - 1, from, to);
    if (hashes.length === to - from) return hashes;
    throw new RangeError(`The log has no hashes ${from} to ${to - 1} at level ${level}`);
  };
}

/** Returns the hashes of a full tile, or undefined where it is not full. */
async function getFullTile(store: Store, level: number, n: number): Promise<Hash[] | undefined> {
  const row = await store.asPlatform().first(GET_TILE, [level, n]);
  if (!row) return undefined;
  return Array.from({ length: TILE_WIDTH }, (_, at) => row.hashes.subarray(at * 32, at * 32 + 32));
}

async function computeLeafHashes(store: Store, from: number, to: number): Promise<Hash[]> {
  return (await exportReceipts(store, { from, to })).map(computeLeafHash);
}

async function listTileRoots(
  store: Store,
  level: number,
  from: number,
  to: number,
): Promise<Hash[]> {
  const rows = await store.asPlatform().query(LIST_TILE_ROOTS, [level, from, to]);
  return rows.map((row): Hash => row.root);
}

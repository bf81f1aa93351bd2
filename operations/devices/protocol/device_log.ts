import {
  buildConsistencyProof,
  computeRootAt,
  createHashReader,
  getPublishedCheckpoint,
  type PublishedCheckpoint,
  type ReadHashes,
  TILE_WIDTH,
} from "../../../ledger/log/mod.ts";
import { sha256 } from "../../../ledger/crypto/mod.ts";
import { type Hash } from "../../../ledger/rules/mod.ts";
import type { Store } from "../../../store/mod.ts";

/** The log as devices ask for it. Hundreds ask for the same, so what never changes is remembered. */
export interface DeviceLogReader {
  /**
   * Returns the newest published checkpoint, half a second old at most.
   *
   * @param size that a device has accepted; where the newest is smaller, that is as of now
   */
  newest(size: number): Promise<PublishedCheckpoint | undefined>;
  /** Returns the proof that a tree begins with a smaller one, hex. @param from ≥ 1, ≤ to */
  proveConsistency(from: number, to: number): Promise<readonly string[]>;
  /** Returns the root of the first leaves. @param size ≥ 1 */
  rootAt(size: number): Promise<Hash>;
  /** Reads hashes of the log's tiles. */
  readonly readHashes: ReadHashes;
}

const FRESH_MS = 500;
const MAX_TILES = 256;
const MAX_REMEMBERED = 2_000;

const readers = new WeakMap<Store["pool"], DeviceLogReader>();

/** Returns the reader of a database's log; one a process. */
export function readDeviceLog(store: Store): DeviceLogReader {
  const known = readers.get(store.pool) ?? openReader(store);
  readers.set(store.pool, known);
  return known;
}

function openReader(store: Store): DeviceLogReader {
  const readHashes = rememberTiles(createHashReader(store));
  const roots = rememberNewest<Promise<Hash>>();
  const proofs = rememberNewest<Promise<readonly string[]>>();
  let newest: { at: number; checkpoint: Promise<PublishedCheckpoint | undefined> } | undefined;

  function look(): Promise<PublishedCheckpoint | undefined> {
    const checkpoint = getPublishedCheckpoint(store);
    newest = { at: performance.now(), checkpoint };
    checkpoint.catch(() => newest = undefined);
    return checkpoint;
  }

  return {
    readHashes,
    async newest(size) {
      const isFresh = newest && performance.now() - newest.at < FRESH_MS;
      const checkpoint = await (isFresh ? newest!.checkpoint : look());
      return checkpoint && checkpoint.size >= size ? checkpoint : await look();
    },
    proveConsistency: (from, to) =>
      proofs(`${from} ${to}`, async () => {
        if (from === to) return [];
        const proof = await buildConsistencyProof(from, to, readHashes, sha256);
        return proof.map((one) => Buffer.from(one).toString("hex"));
      }),
    rootAt: (size) => roots(String(size), () => computeRootAt(size, readHashes, sha256)),
  };
}

/** Remembers results by their keys. What failed is forgotten. */
function rememberNewest<Result extends Promise<unknown>>() {
  const known = new Map<string, Result>();
  return (key: string, compute: () => Result): Result => {
    const result = known.get(key) ?? compute();
    if (!known.has(key)) {
      known.set(key, result);
      result.catch(() => known.delete(key));
      if (known.size > MAX_REMEMBERED) known.delete(known.keys().next().value!);
    }
    return result;
  };
}

/** Reads only hashes of a tile that were not read before: the log only grows. */
function rememberTiles(read: ReadHashes): ReadHashes {
  const tiles = new Map<string, readonly Hash[]>();
  return async (level, from, to) => {
    const first = from - from % TILE_WIDTH;
    const key = `${level} ${first}`;
    let hashes = tiles.get(key) ?? [];
    if (first + hashes.length < to) {
      hashes = [...hashes, ...await read(level, first + hashes.length, to)];
      tiles.delete(key);
      tiles.set(key, hashes);
      if (tiles.size > MAX_TILES) tiles.delete(tiles.keys().next().value!);
    }
    return hashes.slice(from - first, to - first);
  };
}

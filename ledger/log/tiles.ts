import { computeRoot, type Hash, type Sha256 } from "../rules/mod.ts";

/** Hashes in a full tile: eight levels of the tree. @see C2SP tlog-tiles */
export const TILE_WIDTH = 256;

/** Address of a tile: its level (0: hashes of leaves) and its number at that level. */
interface TileId {
  readonly level: number;
  readonly n: number;
}

/** A full tile. */
export interface Tile extends TileId {
  /** Exactly {@linkcode TILE_WIDTH}. */
  readonly hashes: readonly Hash[];
  /** Root over the hashes; an entry of the level above. */
  readonly root: Hash;
}

/** Reads hashes of one tile. @param to exclusive; `from` and `to` are within one tile */
export type ReadHashes = (level: number, from: number, to: number) => Promise<readonly Hash[]>;

/** The right edge of a growing tree: the hashes of each level that are in no full tile yet. */
export type Edge = Hash[][];

/** Adds leaves to the edge in place, and returns the tiles that became full. */
export function growEdge(
  edge: Edge,
  size: number,
  leaves: readonly Hash[],
  sha256: Sha256,
): Tile[] {
  const full: Tile[] = [];
  const push = (level: number, hash: Hash, count: number): void => {
    const row = edge[level] ??= [];
    row.push(hash);
    if (row.length < TILE_WIDTH) return;
    const tile = { level, n: count / TILE_WIDTH - 1, hashes: row, root: computeRoot(row, sha256) };
    full.push(tile);
    edge[level] = [];
    push(level + 1, tile.root, count / TILE_WIDTH);
  };
  leaves.forEach((leaf, n) => push(0, leaf, size + n + 1));
  return full;
}

/** Returns the root of the tree that has this edge, or undefined for an empty tree. */
export function computeEdgeRoot(edge: Edge, sha256: Sha256): Hash | undefined {
  let root: Hash | undefined;
  for (const row of edge) {
    const hashes = root ? [...row, root] : row;
    if (hashes.length > 0) root = computeRoot(hashes, sha256);
  }
  return root;
}

/** Reads the edge of the tree of the first `size` leaves. */
export async function readEdge(size: number, read: ReadHashes): Promise<Edge> {
  const edge: Edge = [];
  for (let count = size, level = 0; count > 0; count = Math.floor(count / TILE_WIDTH), level++) {
    const from = count - count % TILE_WIDTH;
    edge[level] = from < count ? [...await read(level, from, count)] : [];
  }
  return edge;
}

/** Computes the root of the tree of the first `size` leaves. @param size ≥ 1 */
export async function computeRootAt(size: number, read: ReadHashes, sha256: Sha256): Promise<Hash> {
  return await computeRangeRoot(0, size, read, sha256);
}

/**
 * Builds the proof that a leaf is in the tree of the first `size` leaves.
 *
 * @param index < size
 * @see RFC 6962 §2.1.1
 */
export async function buildInclusionProof(
  index: number,
  size: number,
  read: ReadHashes,
  sha256: Sha256,
): Promise<Hash[]> {
  const proof: Hash[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitSize(to - from);
    const other = index < middle ? [middle, to] as const : [from, middle] as const;
    proof.push(await computeRangeRoot(...other, read, sha256));
    [from, to] = index < middle ? [from, middle] : [middle, to];
  }
  return proof.reverse();
}

/**
 * Builds the proof that the tree of the first `newSize` leaves begins with that of the first `oldSize`.
 *
 * @param oldSize ≥ 1, ≤ newSize
 * @see RFC 6962 §2.1.2
 */
export async function buildConsistencyProof(
  oldSize: number,
  newSize: number,
  read: ReadHashes,
  sha256: Sha256,
): Promise<Hash[]> {
  const proof: Hash[] = [];
  let [from, to] = [0, newSize];
  while (to > oldSize) {
    const middle = from + splitSize(to - from);
    if (oldSize <= middle) {
      proof.push(await computeRangeRoot(middle, to, read, sha256));
      to = middle;
    } else {
      proof.push(await computeRangeRoot(from, middle, read, sha256));
      from = middle;
    }
  }
  if (from > 0) proof.push(await computeRangeRoot(from, to, read, sha256)); // else the old root itself
  return proof.reverse();
}

/** Computes the root over leaves that form a subtree: a complete one, or the right edge. */
async function computeRangeRoot(
  from: number,
  to: number,
  read: ReadHashes,
  sha256: Sha256,
): Promise<Hash> {
  const size = to - from;
  let [level, unit] = [0, 1]; // of the largest subtrees that fit in
  for (; unit * TILE_WIDTH <= size; level++) unit *= TILE_WIDTH;
  if (
    size % unit === 0 && from % unit === 0 && from / unit % TILE_WIDTH + size / unit <= TILE_WIDTH
  ) {
    return computeRoot(await read(level, from / unit, to / unit), sha256);
  }
  const middle = from + splitSize(size);
  const [left, right] = [
    await computeRangeRoot(from, middle, read, sha256),
    await computeRangeRoot(middle, to, read, sha256),
  ];
  return computeRoot([left, right], sha256);
}

/** Returns the largest power of two below n. @param n ≥ 2 */
function splitSize(n: number): number {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}

/** Formats the path of a tile or entry bundle: `x001/x234/067`. @see C2SP tlog-tiles */
export function formatTilePath(n: number, width = TILE_WIDTH): string {
  const groups: string[] = [];
  for (let rest = n; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`${groups.length > 0 ? "x" : ""}${String(rest % 1000).padStart(3, "0")}`);
  }
  return groups.join("/") + (width === TILE_WIDTH ? "" : `.p/${width}`);
}

/** Parses the path of a tile or entry bundle; returns undefined where it is not one. */
export function parseTilePath(path: string): { n: number; width: number } | undefined {
  const match = /^((?:x\d{3}\/)*)(\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path);
  if (!match) return undefined;
  const digits = match[1]!.replace(/[x/]/g, "") + match[2];
  const [n, width] = [Number(digits), Number(match[3] ?? TILE_WIDTH)];
  if (!Number.isSafeInteger(n) || width > TILE_WIDTH || match[3] && width === TILE_WIDTH) {
    return undefined;
  }
  return formatTilePath(n, width) === path ? { n, width } : undefined;
}

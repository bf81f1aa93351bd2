import type { Store } from "../../store/mod.ts";
import { loadSigningKey, sha256 } from "../crypto/mod.ts";
import { type LogSettings, parseOwnCheckpoint, readIfPresent, TILE_WIDTH } from "../log/mod.ts";
import { BadNote } from "../notes/mod.ts";
import { type Hash, hashNode, isSameHash } from "../rules/mod.ts";
import { type LedgerBreak, ledgerBreak } from "./breaks.ts";

/**
 * A compact range: the roots of a growing Merkle tree's complete subtrees as hex, largest first, one for each bit of its
 * size.
 */
export type CompactRange = readonly string[];

/** Size and root of the log in a signed checkpoint. */
export interface CheckpointRoot {
  readonly size: number;
  /** Hex. */
  readonly root: string;
}

/**
 * Reads the checkpoint that is kept outside of the database.
 *
 * @returns null if there is none, or if the log's key has not signed it; `onError` receives why
 */
export async function readCheckpoint(
  { checkpointFile, keyFile }: Pick<LogSettings, "keyFile" | "checkpointFile">,
  onError: (error: unknown) => void,
): Promise<CheckpointRoot | null> {
  const note = await readIfPresent(checkpointFile);
  if (note === undefined) return null;
  try {
    const { size, root } = parseOwnCheckpoint(note, loadSigningKey(keyFile).publicKey);
    return { size, root: toHex(root) };
  } catch (error) {
    if (!(error instanceof BadNote)) throw error;
    onError(error);
    return null;
  }
}

/** Finds leaves that differ from those in the stored full tiles. @returns their positions */
export async function findTileMismatches(
  store: Store,
  leaves: ReadonlyMap<number, Hash>,
): Promise<number[]> {
  const tileOf = (position: number) => Math.floor(position / TILE_WIDTH);
  const rows = await store.asPlatform().query(
    "SELECT n, hashes FROM log_tiles WHERE level = 0 AND n = ANY ($1::bigint[])",
    [[...new Set([...leaves.keys()].map(tileOf))]],
  );
  const tiles = new Map<number, Buffer>(rows.map((row) => [Number(row.n), row.hashes]));
  return [...leaves].flatMap(([position, leaf]) => {
    const start = position % TILE_WIDTH * 32;
    const stored = tiles.get(tileOf(position))?.subarray(start, start + 32);
    return stored && !isSameHash(leaf, stored) ? [position] : [];
  });
}

/**
 * Adds leaves to the tree, and compares its root with the checkpoint's at the checkpoint's size.
 *
 * @param leaves by position, in order
 */
export function growTree(
  tree: CompactRange,
  leaves: ReadonlyMap<number, Hash>,
  checkpoint: CheckpointRoot | null,
): { readonly tree: CompactRange; readonly mismatch: LedgerBreak | undefined } {
  let grown = tree;
  let mismatch: LedgerBreak | undefined;
  for (const [position, leaf] of leaves) {
    grown = appendLeaf(grown, position, leaf);
    const size = position + 1;
    if (size === checkpoint?.size && computeRangeRoot(grown) !== checkpoint.root) {
      const reason = `The first ${size} receipts are not those of the signed checkpoint`;
      mismatch = ledgerBreak(position, "log", reason);
    }
  }
  return { tree: grown, mismatch };
}

/** @param size leaves of the range before */
function appendLeaf(range: CompactRange, size: number, leaf: Hash): CompactRange {
  const roots = [...range];
  let node = leaf;
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
    node = hashNode(fromHex(roots.pop()!), node, sha256);
  }
  return [...roots, toHex(node)];
}

/** @param range not empty */
function computeRangeRoot(range: CompactRange): string {
  const root = range.map(fromHex).reduceRight((right, left) => hashNode(left, right, sha256));
  return toHex(root);
}

const fromHex = (hex: string): Hash => Buffer.from(hex, "hex");
const toHex = (hash: Hash): string => Buffer.from(hash).toString("hex");

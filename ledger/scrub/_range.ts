import { sha256 } from "../crypto/mod.ts";
import { type Hash, hashNode } from "../rules/mod.ts";

/**
 * A Merkle tree that only grows, by the roots of its complete subtrees as hex, largest first: one for each bit of its
 * size.
 */
export type CompactRange = readonly string[];

/** Adds a leaf. @param size leaves of the range */
export function appendLeaf(range: CompactRange, size: number, leaf: Hash): CompactRange {
  const roots = [...range];
  let node = leaf;
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
    node = hashNode(Buffer.from(roots.pop()!, "hex"), node, sha256);
  }
  return [...roots, Buffer.from(node).toString("hex")];
}

/** Root of the tree, hex. */
export function compactRangeRoot(range: CompactRange): string {
  const [last, ...before] = range.map((root): Hash => Buffer.from(root, "hex")).reverse();
  const root = last
    ? before.reduce((right, left) => hashNode(left, right, sha256), last)
    : sha256(new Uint8Array());
  return Buffer.from(root).toString("hex");
}

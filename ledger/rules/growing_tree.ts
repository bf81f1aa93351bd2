import { type Hash, hashNode, type Sha256 } from "./tree.ts";

/** A Merkle tree that leaves are added to. It keeps only the roots of its complete subtrees. */
export interface GrowingTree {
  /** Leaves so far. */
  readonly size: number;
  add(leaf: Hash): void;
  /** @throws {RangeError} there are no leaves yet */
  root(): Hash;
}

/** Creates an empty tree. */
export function createGrowingTree(sha256: Sha256): GrowingTree {
  const subtrees: { hash: Hash; leaves: number }[] = []; // from the largest to the smallest, as the bits of the size
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(leaf) {
      size++;
      let [hash, leaves] = [leaf, 1];
      for (let left = subtrees.at(-1); left?.leaves === leaves; left = subtrees.at(-1)) {
        hash = hashNode(left.hash, hash, sha256);
        leaves *= 2;
        subtrees.pop();
      }
      subtrees.push({ hash, leaves });
    },
    root() {
      const hashes = subtrees.map(({ hash }) => hash);
      if (hashes.length === 0) throw new RangeError("There is no root over no leaves");
      return hashes.reduceRight((right, left) => hashNode(left, right, sha256));
    },
  };
}

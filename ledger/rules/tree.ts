/** Computes SHA-256, as 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** 32 bytes. */
export type Hash = Uint8Array;

const LEAF = 0;
const NODE = 1;

/** Returns the hash of a leaf. @see RFC 6962 §2.1 */
export function hashLeaf(data: Uint8Array, sha256: Sha256): Hash {
  const bytes = new Uint8Array(data.length + 1);
  bytes[0] = LEAF;
  bytes.set(data, 1);
  return sha256(bytes);
}

/** Returns the hash of a node with two children. */
export function hashNode(left: Hash, right: Hash, sha256: Sha256): Hash {
  const bytes = new Uint8Array(65);
  bytes[0] = NODE;
  bytes.set(left, 1);
  bytes.set(right, 33);
  return sha256(bytes);
}

/**
 * Returns the root over neighbouring hashes. All but the last are of complete subtrees of one size, which may be one leaf;
 * the last may be of a smaller one.
 *
 * @param hashes at least one
 */
export function computeRoot(hashes: readonly Hash[], sha256: Sha256): Hash {
  let row = hashes;
  while (row.length > 1) {
    const above: Hash[] = [];
    for (let n = 0; n + 1 < row.length; n += 2) above.push(hashNode(row[n]!, row[n + 1]!, sha256));
    if (row.length % 2 === 1) above.push(row.at(-1)!);
    row = above;
  }
  if (!row[0]) throw new RangeError("Cannot compute the root of no hashes");
  return row[0];
}

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
  const subtrees: { hash: Hash; leaves: number }[] = []; // one for each bit of the size, the largest first
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
      if (hashes.length === 0) {
        throw new RangeError("Cannot compute the root of a tree without leaves");
      }
      return hashes.reduceRight((right, left) => hashNode(left, right, sha256));
    },
  };
}

/** A proof that a leaf is in a tree. */
export interface InclusionProof {
  readonly leafHash: Hash;
  /** Position of the leaf, from 0. */
  readonly index: number;
  /** Leaves of the tree, > index. */
  readonly size: number;
  readonly proof: readonly Hash[];
}

/**
 * Returns the root that an inclusion proof leads to. It proves inclusion in the tree that has this root.
 *
 * @returns undefined where the proof is too long or too short
 * @see RFC 9162 §2.1.3.2
 */
export function computeInclusionRoot(inclusion: InclusionProof, sha256: Sha256): Hash | undefined {
  const { index, size, proof } = inclusion;
  if (![index, size].every(Number.isSafeInteger) || index < 0 || index >= size) return undefined;
  let [at, last] = [index, size - 1];
  let root = inclusion.leafHash;
  for (const hash of proof) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      root = hashNode(hash, root, sha256);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      root = hashNode(root, hash, sha256);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? root : undefined;
}

/** A proof that a larger tree begins with a smaller one. */
export interface ConsistencyProof {
  /** Leaves and root of the smaller tree; at least one leaf. */
  readonly oldSize: number;
  readonly oldRoot: Hash;
  readonly newSize: number;
  readonly newRoot: Hash;
  readonly proof: readonly Hash[];
}

/** Returns true where a consistency proof is valid. @see RFC 9162 §2.1.4.2 */
export function isConsistent(consistency: ConsistencyProof, sha256: Sha256): boolean {
  const { oldSize, oldRoot, newSize, newRoot, proof } = consistency;
  if (!(Number.isSafeInteger(newSize) && oldSize >= 1 && oldSize <= newSize)) return false;
  if (oldSize === newSize) return proof.length === 0 && isSameHash(oldRoot, newRoot);
  const path = isPowerOfTwo(oldSize) ? [oldRoot, ...proof] : proof;
  let [at, last] = [oldSize - 1, newSize - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  const [first, ...rest] = path;
  if (!first) return false;
  let [old, now] = [first, first];
  for (const hash of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      old = hashNode(hash, old, sha256);
      now = hashNode(hash, now, sha256);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      now = hashNode(now, hash, sha256);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && isSameHash(old, oldRoot) && isSameHash(now, newRoot);
}

/** Returns true where two hashes are the same bytes. */
export function isSameHash(a: Hash, b: Hash): boolean {
  return a.length === b.length && a.every((byte, n) => byte === b[n]);
}

const half = (n: number) => Math.floor(n / 2);

/** @param n ≥ 1 */
function isPowerOfTwo(n: number): boolean {
  let rest = n;
  while (rest % 2 === 0) rest /= 2;
  return rest === 1;
}
